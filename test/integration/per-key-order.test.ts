import { setTimeout as sleep } from 'node:timers/promises';
import type { Offset } from '@strandline/core';
import {
  databaseKinds,
  faultless,
  idsOf,
  MemoryHistory,
  onceEach,
  PipelineRuns,
  recorded,
  rowsOf,
  ScriptedFailure,
  ScriptedHandler,
  TestLog,
  testOutbox,
  waitUntil,
  watchFor,
  type HistoryEntry,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, PermanentError } from 'strandline';
import { describe, expect, test } from 'vitest';

/** For what the executor decides, whatever log the events come from. */
const anyKind = 'postgres';

/** `started 3`, `failed 3`, … with the place of the event among the inserted ones instead of its id. */
function story(entries: readonly HistoryEntry[], ids: readonly string[]): string[] {
  const places = (entry: HistoryEntry): string => entry.ids.map((id) => ids.indexOf(id)).join('+');
  return entries.map((entry) => `${entry.what} ${places(entry)}`);
}

describe.each(databaseKinds)(
  '%s: an event starts only after the previous event of its key has settled',
  (kind) => {
    test('while handlers are slow and fail at random', async () => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      const history = new MemoryHistory();
      const handler = new ScriptedHandler(history.record, { delay: 8, jitter: true, failRate: 0.3 });
      await using pipeline = definePipeline({
        name: 'order',
        source: outbox.source(),
        offsets: memoryOffsets(),
        concurrency: 16,
        retry: { attempts: Infinity, initialDelay: 2, maxDelay: 20 },
        log: new TestLog(),
        handle: handler.handle,
      });
      await pipeline.start();

      await using writers = outbox.writers({ keys: 40 });
      await waitUntil('the writers have written', () => writers.committed >= 1_500);
      await writers.stop();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);

      expect(outbox.check(committed, history)).toEqual(onceEach);
      expect(history.ids('failed').length, 'failures').toBeGreaterThan(committed.length * 0.2);
    });

    test(
      'also when the process is killed: a key may see a suffix of its events again, and no gap and no swap',
      { timeout: 120_000 },
      async () => {
        await using outbox = await testOutbox(kind);
        const witness = await outbox.witness();
        await using runs = await PipelineRuns.prepare(outbox, {
          name: 'order',
          // One commit a second: much is settled and not saved when the process dies.
          tuning: { commitInterval: 1_000, retry: { attempts: 1_000, initialDelay: 2, maxDelay: 20 } },
          behaviour: { delay: 4, jitter: true, failRate: 0.2 },
        });
        const { history } = runs;
        let life = await runs.start();
        await using writers = outbox.writers({ keys: 8 });
        for (let kill = 0; kill < 3; kill += 1) {
          const { run } = life;
          await history.until('much was handled', () => history.ids('succeeded', run).length > 150);
          await life.kill();
          life = await runs.start();
        }
        await writers.stop();
        const committed = await witness.events();
        await history.untilSucceeded(committed.length);

        const judgement = outbox.check(committed, history);
        expect(judgement).toMatchObject(faultless);
        expect(judgement.duplicates.length).toBeGreaterThan(0);
      },
    );

    test('and is not lost when it waited behind a slow one, later ones of other keys were done, and the process died', async () => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, { name: 'order', behaviour: { hold: ['k1'] } });
      const { history } = runs;
      const first = await runs.start();
      const [a = '', b = '', c = ''] = await outbox.insert(rowsOf('k1', 'k1', 'k2'));
      await history.until(
        'A runs and C is done',
        () => history.isRunning('k1', 1) && history.succeeded.has(c),
      );
      expect(history.ids('started'), 'B waits').not.toContain(b);
      first.step('k1');
      await history.until('B runs', () => history.ids('started').includes(b));
      await first.untilStatus('A and C are saved', (status) => status.unsaved === 0);
      await first.kill();

      const second = await runs.start({ behaviour: {} });
      await history.until('B is done', () => history.succeeded.has(b));
      await second.stop();
      const judgement = outbox.check(await witness.events(), history);
      expect(judgement).toMatchObject(faultless);
      expect(idsOf(judgement.duplicates)).toEqual([b]);
      expect(history.ids('succeeded')).toEqual(expect.arrayContaining([a, b, c]));
    });
  },
);

describe('a failed event stays the head of its key', () => {
  test('it is not overtaken while in backoff, nor put behind the others, and other keys go on', async () => {
    await using outbox = await testOutbox(anyKind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { failFirst: { k1: 3 } });
    await using pipeline = definePipeline({
      name: 'head',
      source: outbox.source(),
      offsets: memoryOffsets(),
      retry: { initialDelay: 60, factor: 1, jitter: 'none' },
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    const ids = await outbox.insert(rowsOf('k1', 'k2', 'k1', 'k3', 'k2'));
    await history.untilSucceeded(5);

    const tries = (place: number): string[] => [
      ...[1, 2, 3].flatMap(() => [`started ${String(place)}`, `failed ${String(place)}`]),
      ...[`started ${String(place)}`, `succeeded ${String(place)}`],
    ];
    expect(story(history.ofKey('k1'), ids)).toEqual([...tries(0), ...tries(2)]);
    const doneAt = (id: string | undefined): number =>
      history.entries.findIndex(({ what, ids: [of] }) => what === 'succeeded' && of === id);
    for (const other of [1, 3, 4]) expect(doneAt(ids[other])).toBeLessThan(doneAt(ids[0]));
  });

  test.each([
    ['it has failed as often as the policy allows', () => new ScriptedFailure('always'), 3],
    ['its error says that no retry can help', () => new PermanentError('never'), 1],
  ])('for good, when %s: its key halts and the others go on', async (_, error, attempts) => {
    await using outbox = await testOutbox(anyKind);
    const storage = new Map<string, Offset>();
    const history = new MemoryHistory();
    const run = async (number: number, isHealed: boolean, until: number): Promise<void> => {
      await using pipeline = definePipeline({
        name: 'halt',
        source: outbox.source(),
        offsets: memoryOffsets({ storage }),
        retry: { attempts: 3, initialDelay: 1 },
        log: new TestLog(),
        handle: (event, { attempt }) =>
          recorded(history.record, { run: number, attempt, events: [event] }, async () => {
            await sleep(1);
            if (event.key === 'k1' && !isHealed) throw error();
          }),
      });
      await pipeline.start();
      if (number === 1) ids.push(...(await outbox.insert(rowsOf('k1', 'k2', 'k1', 'k2', 'k3'))));
      await history.untilSucceeded(until);
      if (!isHealed) await waitUntil('k1 halts', () => pipeline.status().halted === 1);
      ids.push(...(await outbox.insert(rowsOf('k2'))));
      await history.untilSucceeded(until + 1);
      expect(pipeline.status()).toMatchObject({ state: 'running', unsettled: isHealed ? 0 : 2 });
    };
    const ids: string[] = [];
    await run(1, false, 3);
    const tries = Array.from({ length: attempts }, () => ['started 0', 'failed 0']).flat();
    expect(story(history.ofKey('k1'), ids)).toEqual(tries);

    // The place in the log was held: with the cause gone, the key goes on from its head.
    await run(2, true, 6);
    expect(story(history.ofKey('k1'), ids).slice(tries.length)).toEqual([
      ...['started 0', 'succeeded 0', 'started 2', 'succeeded 2'],
    ]);
  });
});

describe.each(databaseKinds)('%s: two handlers of one key never run at once', (kind) => {
  test('also not when the pipeline loses its ownership and takes it again while a handler goes on', async () => {
    await using outbox = await testOutbox(kind);
    const storage = new Map<string, Offset>();
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const aborted: string[] = [];
    await using pipeline = definePipeline({
      name: 'owner',
      source: outbox.source(),
      offsets: memoryOffsets({ storage }),
      log: new TestLog(),
      handle: (event, ctx) => {
        ctx.signal.addEventListener('abort', () => aborted.push(event.key));
        return handler.handle(event, ctx);
      },
    });
    await pipeline.start();
    const [a = '', b = ''] = await outbox.insert(rowsOf('k1', 'k1'));
    await history.until('A runs', () => history.isRunning('k1', 1));

    const identity = storage.get('owner')?.identity ?? {};
    await memoryOffsets({ storage }).claim('owner', { identity, watermark: '' });
    await outbox.insert(rowsOf('k2'));
    await waitUntil('the handler is told', () => aborted.includes('k1'));
    await outbox.sessionsOf('owner').untilNobodyOwns();
    // It does not listen. Nothing of its key may start before it has ended, however long that takes.
    await watchFor(1_000, 'only the first handler of k1 has started', () => history.ofKey('k1').length === 1);
    handler.release('k1');
    await history.until('B is done', () => history.succeeded.has(b));

    const lives = ['started 0', 'succeeded 0', 'started 0', 'succeeded 0', 'started 1', 'succeeded 1'];
    expect(story(history.ofKey('k1'), [a, b])).toEqual(lives);
    expect(pipeline.status().epoch).toBeGreaterThan(2);
  });
});

describe('a batch', () => {
  test('hands over consecutive events of one key, and is tried again with the same ones', async () => {
    await using outbox = await testOutbox(anyKind);
    const witness = await outbox.witness();
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'], failFirst: { k1: 1 } });
    await using pipeline = definePipeline({
      name: 'batch',
      source: outbox.source(),
      offsets: memoryOffsets(),
      batch: { max: 4 },
      retry: { initialDelay: 30, jitter: 'none' },
      log: new TestLog(),
      handle: handler.handleBatch,
    });
    await pipeline.start();
    const ids = await outbox.insert(rowsOf('k1'));
    await history.until('k1 is held', () => history.isRunning('k1', 1));
    // These come while the first batch runs: they may not join it when it is tried again.
    const others = rowsOf('k1', 'k2', 'k1', 'k2', 'k2', ...Array<string>(8).fill('k1'), 'k2');
    ids.push(...(await outbox.insert(others)));
    await waitUntil(
      'all are queued',
      () => pipeline.status().unsettled === 11 && history.succeeded.size === 4,
    );
    handler.release('k1');
    await history.untilSucceeded(ids.length);

    expect(outbox.check(await witness.events(), history)).toEqual(onceEach);
    const twice = (ids: string): string[] => [
      `started ${ids}`,
      `failed ${ids}`,
      `started ${ids}`,
      `succeeded ${ids}`,
    ];
    expect(story(history.ofKey('k1'), ids)).toEqual(['0', '1+3+6+7', '8+9+10+11', '12+13'].flatMap(twice));
    expect(history.ofKey('k2').every(({ ids }) => ids.length <= 4)).toBe(true);
  });
});
