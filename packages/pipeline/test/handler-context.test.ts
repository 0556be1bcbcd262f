import type { CommitResult, HandlerContext, OutboxEvent } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { TurnContext } from '../src/handler-context.js';
import { Run } from '../src/run.js';
import { Term } from '../src/term.js';
import { event, FakeStore, gate, keptLog, offsetAt, pipelineConfig, until } from './fixtures.js';
import { ScriptedStream } from './scripted-source.js';

function contextOf(
  of: Partial<OutboxEvent>,
  { name = 'shop', batch = false, attempt = 1 } = {},
): TurnContext {
  const term = new Term({ name, batch: batch ? { max: 10 } : undefined }, keptLog().log);
  return new TurnContext({ ...event('k', 1), ...of }, attempt, term);
}

describe('ctx.replay', () => {
  it('is false for the live pipeline', () => {
    expect(contextOf({}).replay).toBe(false);
  });

  it('is true in a replay, whose events keep the name that the live pipeline gives them', () => {
    const term = new Term({ name: 'shop-replay', batch: undefined }, keptLog().log, 'shop');
    const ctx = new TurnContext(event('k', 1), 1, term);
    expect(ctx).toMatchObject({ replay: true, pipeline: 'shop-replay' });
    expect(ctx.idempotencyKey).toBe('shop/public.outbox/1');
  });
});

describe('ctx.idempotencyKey', () => {
  it('names pipeline, table and event, and not the attempt', () => {
    expect(contextOf({ id: '42', position: 'p1' }).idempotencyKey).toBe('shop/public.outbox/42');
    expect(contextOf({ id: '42', position: 'p2' }, { attempt: 7 }).idempotencyKey).toBe(
      'shop/public.outbox/42',
    );
  });

  it.each([
    ['of another pipeline', contextOf({ id: '42' }, { name: 'mails' })],
    ['of another table', contextOf({ id: '42', table: 'public.outbox_2' })],
    ['of another event', contextOf({ id: '43' })],
  ])('is another one %s', (_, ctx) => {
    expect(ctx.idempotencyKey).not.toBe(contextOf({ id: '42' }).idempotencyKey);
  });

  it.each([
    ['a long id', 'x'.repeat(10_000)],
    ['a line break', 'a\r\nb'],
    ['other scripts', 'тест'],
    ['a slash', 'a/b'],
    ['a lone surrogate', '\ud800'],
    ['what a hash looks like', `sha256:${'0'.repeat(64)}`],
  ])('fits into a header whatever the id has in it: %s', (_, id) => {
    const key = contextOf({ id }).idempotencyKey;
    expect(key).toMatch(/^shop\/sha256:[0-9a-f]{64}$/);
    expect(key).toBe(contextOf({ id }).idempotencyKey);
    expect(key).not.toBe(contextOf({ id: `${id}x` }).idempotencyKey);
  });

  it('has a slash in one place only: two tables and ids never meet', () => {
    expect(contextOf({ table: 'a/b', id: 'c' }).idempotencyKey).not.toBe(
      contextOf({ table: 'a', id: 'b/c' }).idempotencyKey,
    );
  });

  it('of a batch does not exist; its events have theirs', () => {
    const ctx = contextOf({ id: '42' }, { batch: true });
    expect(() => ctx.idempotencyKey).toThrow(expect.objectContaining({ code: 'PIPELINE_BATCH' }));
    expect(ctx.idempotencyKeyOf(event('k', 43))).toBe('shop/public.outbox/43');
  });
});

describe('ctx.settledBefore', () => {
  /** Committed in the n-th second. */
  const at = (n: number): string => `2026-01-01T00:00:0${String(n)}.000000Z`;
  const committed = (key: string, n: number): OutboxEvent => ({
    ...event(key, n),
    transaction: { id: String(n), ordinal: 1, commitTime: at(n) },
  });

  function running(handle: (event: OutboxEvent, ctx: HandlerContext) => unknown): {
    readonly store: FakeStore;
    readonly stream: ScriptedStream;
    readonly run: Run;
    readonly seen: (string | null)[];
    readonly stop: () => Promise<void>;
  } {
    const store = new FakeStore();
    const stream = new ScriptedStream(offsetAt(0));
    const seen: (string | null)[] = [];
    const { log } = keptLog();
    const config = pipelineConfig({
      offsets: store,
      commitInterval: 1,
      drainTimeout: 0,
      handle: (event, ctx) => {
        seen.push(ctx.settledBefore);
        return handle(event, ctx);
      },
    });
    const run = new Run({ config, stream, claimed: null, log });
    const over = run.run();
    return {
      store,
      stream,
      run,
      seen,
      stop: async () => {
        run.stop();
        await over;
      },
    };
  }

  it('is unknown until something is saved, then the time of what was settled last', async () => {
    const { stream, run, seen, stop } = running(() => undefined);
    stream.give([committed('a', 1), committed('b', 2)], 3);
    await until('it is saved', () => run.executor.settled === 2 && run.commits.unsaved === 0);
    stream.give([committed('a', 4)]);
    await until('it is handled', () => seen.length === 3);
    expect(seen).toEqual([null, null, at(2)]);
    await stop();
  });

  it('stays at the oldest event that is not settled', async () => {
    const slow = gate();
    const { stream, run, seen, stop } = running(({ key }) => (key === 'slow' ? slow.promise : undefined));
    stream.give([committed('a', 1), committed('slow', 2), committed('b', 3)], 4);
    await until('the others are saved', () => run.executor.settled === 2 && run.commits.unsaved === 0);
    stream.give([committed('a', 5)]);
    await until('it is handled', () => seen.length === 4);
    expect(seen.at(-1)).toBe(at(2));
    slow.open();
    await until('all is saved', () => run.executor.settled === 4 && run.commits.unsaved === 0);
    stream.give([committed('a', 6)]);
    await until('it is handled', () => seen.length === 5);
    expect(seen.at(-1)).toBe(at(5));
    await stop();
  });

  it('moves when the offset is saved, and not before', async () => {
    const { store, stream, run, seen, stop } = running(() => undefined);
    const answer = gate<CommitResult>();
    store.answer = () => answer.promise;
    stream.give([committed('a', 1)]);
    await until('a commit is asked for', () => store.commits.length > 0);
    stream.give([committed('a', 2)]);
    await until('it is handled', () => seen.length === 2);
    expect(seen).toEqual([null, null]);
    answer.open('saved');
    await until('it is saved', () => run.commits.unsaved === 0);
    stream.give([committed('a', 3)]);
    await until('it is handled', () => seen.length === 3);
    expect(seen.at(-1)).toBe(at(2));
    await stop();
  });
});
