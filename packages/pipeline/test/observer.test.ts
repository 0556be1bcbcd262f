import { Strand, type OpenRequest, type SourceStream } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { TurnContext } from '../src/handler-context.js';
import { readInstanceDetails, type InstanceDetails } from '../src/report/instance-details.js';
import { LOOKED_AT, notableKeys } from '../src/report/notable-keys.js';
import { Figures } from '../src/prune/figures.js';
import { Observer } from '../src/report/observer.js';
import { pruningOf } from '../src/report/pruning-of.js';
import { definePipeline, type Pipeline } from '../src/pipeline.js';
import { RateMeter } from '../src/report/rates.js';
import { Run } from '../src/run.js';
import { Term } from '../src/term.js';
import { Top } from '../src/report/top.js';
import { TurnAges } from '../src/report/turn-ages.js';
import {
  event,
  executorFor,
  FakeStore,
  gate,
  keptLog,
  offsetAt,
  pipelineConfig,
  STEADY,
  turn,
  until,
} from './fixtures.js';
import { ScriptedSource, ScriptedStream } from './scripted-source.js';

/** JSON, and back: what somebody reads of a report. */
function read(details: unknown): InstanceDetails {
  const found = readInstanceDetails(JSON.parse(JSON.stringify(details)));
  if (found === null) throw new Error('the details can not be read');
  return found;
}

describe('what an owner tells of its pruner', () => {
  it('is short, and is read again, also from an owner that tells nothing of it', () => {
    const figures = new Figures();
    const heldBack = Array.from({ length: 50 }, (_, n) => ({
      ...{ who: `slot ${String(n)} ${'x'.repeat(1_000)}`, at: null, why: 'y'.repeat(10_000) },
    }));
    figures.become('waiting', { outbox: 'public.outbox', candidates: 9, heldBack });
    const details = new Observer().look(null, null, figures.now);
    expect(details.prune).toBeNull();
    const told = read({ ...details, prune: pruningOf(figures.now) });
    expect(told.prune).toMatchObject({
      outbox: 'public.outbox',
      state: 'waiting',
      candidates: 9,
      error: null,
    });
    expect(told.prune?.heldBack).toHaveLength(10);
    expect(JSON.stringify(told.prune).length).toBeLessThan(5_000);
    const { prune: _, ...older } = details;
    expect(read(older).prune).toBeNull();
  });
});

describe('what an owner tells of itself', () => {
  it('names what runs longest, what fails, what is hot, and the oldest event, and no payload', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const slow = gate();
    const run = new Run({
      config: pipelineConfig({
        concurrency: 4,
        handle: ({ key }) => {
          if (key === 'slow') return slow.promise;
          if (key === 'bad')
            throw Object.assign(
              new TypeError(`no stock at postgres://shop:hunter2@db/shop ${'x'.repeat(500)}\nof the secret`),
              { code: 'E_STOCK' },
            );
          return undefined;
        },
        retry: { ...STEADY, initialDelay: 60_000, maxDelay: 60_000 },
        drainTimeout: 0,
      }),
      stream,
      claimed: null,
      log: keptLog().log,
    });
    const ended = run.run();
    const observer = new Observer();
    const secret = { ...event('slow', 1), payload: 'the secret', payloadText: 'the secret' };
    stream.give(
      [secret, event('bad', 2), event('slow', 3), event('bad', 4), event('slow', 5), event('fine', 6)],
      7,
    );
    await until('all but two keys are handled', () => run.executor.settled === 1);

    const details = read(observer.look(run));
    expect(details).toMatchObject({
      ...{ unsettled: 5, strands: 2, running: 1, backoff: 1, settled: 1, unsaved: 1 },
      ...{ watermark: 'p0', settledBefore: '2026-01-01T00:00:00.000000Z', paused: null, error: null },
      source: { state: 'streaming', lagBytes: 0, reconnects: 0 },
      oldest: { key: 'slow', id: '1', position: 'p1' },
      turns: [{ key: 'slow', id: '1', attempt: 1, stuck: false }],
      failing: [
        {
          ...{ key: 'bad', state: 'backoff', events: 2, attempt: 1 },
          error: { name: 'TypeError', code: 'E_STOCK' },
        },
      ],
      hot: [
        { key: 'slow', events: 3 },
        { key: 'bad', events: 2 },
      ],
    });
    const [failing] = details.failing;
    expect(failing?.nextTryIn).toBeGreaterThan(50);
    expect(failing?.error.message).toMatch(/^no stock at postgres:\/\/\*\*\*@db\/shop x+…$/);
    expect(failing?.error.message).toHaveLength(121);
    expect(details.watermarkAge).toBeGreaterThan(0);
    expect(JSON.stringify(details)).not.toMatch(/secret|hunter2/);

    run.stop();
    slow.open();
    await ended;
  });

  it('fits into a report whatever keys, ids, positions and errors are', async () => {
    const wide = (n: number): string => `${String(n)}-${'\u0001'.repeat(100_000)}`;
    const stream = new ScriptedStream(offsetAt(0));
    const held = gate();
    const run = new Run({
      config: pipelineConfig({
        concurrency: 40,
        handle: ({ id }) => {
          if (id.startsWith('1')) return held.promise;
          throw Object.assign(new Error('\u0001'.repeat(100_000)), {
            name: '\u0001'.repeat(10_000),
            code: '\u0001'.repeat(10_000),
          });
        },
        retry: { ...STEADY, initialDelay: 60_000, maxDelay: 60_000 },
        drainTimeout: 0,
      }),
      stream,
      claimed: null,
      log: keptLog().log,
    });
    const ended = run.run();
    for (let n = 0; n < 40; n += 1)
      stream.give([
        { ...event(wide(n), n), id: wide(n % 2), position: wide(n) },
        { ...event(wide(n), n), id: wide(n % 2), position: `${wide(n)}b` },
      ]);
    await until('all have run', () => run.executor.counts().backoff === 20);
    for (let n = 0; n < 20; n += 1) run.executor.divert(wide(n + 100));
    const details = read(new Observer().look(run));
    expect(details.turns).toHaveLength(10);
    expect(details.failing).toHaveLength(10);
    expect(details.hot).toHaveLength(10);
    expect(details.parkedKeys).toHaveLength(10);
    // The keys that the table is full for come on top of these.
    const full = details.parkedKeys;
    expect(Buffer.byteLength(JSON.stringify({ ...details, fullKeys: full }))).toBeLessThan(60 * 1024);
    run.stop();
    held.open();
    await ended;
  });

  it('looks at so many strands and no more, those first that live longest', () => {
    let looked = 0;
    function* strands(): Generator<Strand> {
      for (;;) {
        const strand = new Strand(`k${String(looked)}`);
        if (looked === 0) strand.failed(new Error('of the handler'), 5);
        looked += 1;
        yield strand;
      }
    }
    const { failing, partial } = notableKeys(strands(), 2_005);
    expect(looked).toBe(LOOKED_AT + 1);
    expect(partial).toBe(true);
    expect(failing).toMatchObject([{ key: 'k0', age: 2 }]);
  });
});

describe('a pipeline', () => {
  function make(open: (request: OpenRequest) => Promise<SourceStream>): {
    pipeline: Pipeline;
    store: FakeStore;
  } {
    const store = new FakeStore();
    const pipeline = definePipeline({
      name: 'shop',
      source: new ScriptedSource(open),
      offsets: store,
      log: keptLog().log,
      commitInterval: 1,
      handle: () => undefined,
    });
    return { pipeline, store };
  }

  it('tells the register each state, its epoch and its details, and leaves at the end', async () => {
    const { pipeline, store } = make((request) => {
      request.standby('another one');
      return Promise.resolve(new ScriptedStream(offsetAt(0)));
    });
    const { instances } = store;
    expect(instances.reports).toEqual([]);
    await pipeline.start();
    await until('it is known to run', () => instances.states.includes('running'));
    expect(instances.states[0]).toBe('starting');
    const last = instances.reports.at(-1);
    expect(last).toMatchObject({ state: 'running', epoch: 3, pid: process.pid });
    expect(read(last?.details)).toMatchObject({ watermark: 'p0', unsettled: 0 });
    const closedBefore = store.closed;
    await pipeline.stop();
    expect(closedBefore).toBe(0);
    expect(instances.left).toEqual([last?.id]);
    expect(store.closed).toBe(1);
  });

  it('that fails says with what, and stays to be seen', async () => {
    const { pipeline, store } = make(() =>
      Promise.reject(Object.assign(new Error('no slot'), { code: 'PG_SLOT_LOST' })),
    );
    await expect(pipeline.start()).rejects.toThrow('no slot');
    const last = store.instances.reports.at(-1);
    expect(last?.state).toBe('failed');
    expect(read(last?.details).error).toEqual({ name: 'Error', code: 'PG_SLOT_LOST', message: 'no slot' });
    expect(store.instances.left).toEqual([]);
  });

  it('runs as ever while its register answers nothing, and stops in a second', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const { pipeline, store } = make(() => Promise.resolve(stream));
    store.instances.answer = () => new Promise(() => undefined);
    await pipeline.start();
    stream.give([event('a', 1)], 2);
    await until('the offset is saved', () => store.saved?.watermark === 'p2');
    await turn();
    expect(store.instances.reports).toHaveLength(1);
    const before = performance.now();
    await pipeline.stop();
    expect(performance.now() - before).toBeLessThan(2_500);
    expect(store.closed).toBe(1);
  });
});

describe('details that were written elsewhere', () => {
  it.each([[null], ['text'], [{}], [{ ...new Observer().look(null), turns: 'many' }]])(
    '%j are not read as ours',
    (details) => {
      expect(readInstanceDetails(details)).toBeNull();
    },
  );

  it('may tell more than this version knows', () => {
    const known = new Observer().look(null);
    expect(readInstanceDetails({ ...known, more: 1 })).toEqual(known);
  });
});

describe('the heaviest few', () => {
  it.each([
    [[], []],
    [
      [1, 2],
      [2, 1],
    ],
    [
      [3, 1, 2, 5, 4, 0],
      [5, 4, 3],
    ],
  ])('of %j are %j', (offered, expected) => {
    const top = new Top<number>(3);
    for (const n of offered) top.offer(n, n);
    expect(top.items).toEqual(expected);
  });

  it('keep the first of equal ones', () => {
    const top = new Top<string>(2);
    for (const name of ['a', 'b', 'c']) top.offer(name, 1);
    expect(top.items).toEqual(['a', 'b']);
  });
});

describe('the age of a turn', () => {
  it('is that of the first look that saw it, and a new turn of the key begins anew', () => {
    const ages = new TurnAges();
    const strand = new Strand('a');
    const term = new Term({ name: 'shop', batch: undefined }, keptLog().log);
    const one = { strand, context: new TurnContext(event('a', 1), 1, term), stuck: false, startedAt: 0 };
    const next = { strand, context: new TurnContext(event('a', 1), 2, term), stuck: false, startedAt: 0 };
    expect(ages.look([one], 1_000)(one)).toBe(0);
    expect(ages.look([one], 2_000)(one)).toBe(1_000);
    expect(ages.look([next], 3_000)(next)).toBe(0);
    expect(ages.look([next, one], 4_000)(one)).toBe(0);
  });
});

describe('rates', () => {
  it('are events per second over the last ten seconds, and begin anew with each term', () => {
    const meter = new RateMeter();
    const executor = executorFor(pipelineConfig());
    const settles = (count: number): void => {
      for (let i = 0; i < count; i += 1) executor.admit(event('a', executor.settled + 1 + i));
      for (let i = 0; i < count; i += 1) {
        const strand = executor.take();
        if (strand !== null) executor.succeed(strand);
      }
    };
    expect(meter.look(executor, 0)).toBeNull();
    settles(100);
    executor.admit(event('b', 1_000));
    expect(meter.look(executor, 1_000)).toEqual({ admitted: 101, settled: 100 });
    expect(meter.look(executor, 10_000)).toEqual({ admitted: 10.1, settled: 10 });
    expect(meter.look(executor, 11_000)).toEqual({ admitted: 0, settled: 0 });
    expect(meter.look(executorFor(pipelineConfig()), 12_000)).toBeNull();
  });
});
