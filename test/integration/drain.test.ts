import { startRedis } from '@strandline/servers';
import {
  databaseKinds,
  faultless,
  idsOf,
  MemoryHistory,
  onceEach,
  PipelineRuns,
  recorded,
  rowsOf,
  ScriptedHandler,
  TcpProxy,
  testOutbox,
  waitUntil,
} from '@strandline/test-kit';
import { memoryOffsets, PermanentError, redisOffsets, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { Pipelines } from './pipelines.js';

/** For what happens between the pipeline and its handlers, whatever log the events come from. */
const anyKind = 'postgres';

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

describe.each(databaseKinds)(
  '%s: a pipeline that stops finishes what is in flight, starts nothing new, saves and releases',
  (kind) => {
    test.each(['SIGTERM', 'stop()'])('on %s', async (how) => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, {
        name: 'drain',
        tuning: { concurrency: 3 },
        behaviour: { hold: ['k1', 'k2'] },
      });
      const { history } = runs;
      const life = await runs.start();
      await outbox.insert(rowsOf('k0'));
      const [a = ''] = await outbox.insert(rowsOf('k1'));
      const [b = ''] = await outbox.insert(rowsOf('k2'));
      // Behind those in flight, and without a place to run in: the third one is for k0 to come by.
      await outbox.insert(rowsOf('k1', 'k2', 'k1'));
      await history.until('two run', () => history.isRunning('k1', 1) && history.isRunning('k2', 1));
      await life.untilStatus('the others are queued', (status) => status.unsettled === 5);

      if (how === 'SIGTERM') life.signal('SIGTERM');
      else void life.stop();
      await life.untilStatus('it is stopping', (status) => status.state === 'stopping');
      await outbox.insert(rowsOf('k0'));
      life.release();
      expect(await life.exited).toEqual({ code: 0, signal: null });
      expect(history.refresh().ids('started').slice(-2).sort()).toEqual([a, b].sort());
      expect(history.ids('succeeded').length).toBe(3);

      const committed = await witness.events();
      await outbox.sessionsOf('drain').untilNobodyOwns();
      const [last = '', unsettled = ''] = committed.slice(2, 4).map(({ position }) => position);
      if (outbox.release !== null) {
        await outbox.release.until(last);
        expect(outbox.comparePlaces(await outbox.release.upTo(), unsettled)).toBeLessThanOrEqual(0);
      }

      const next = await runs.start({ behaviour: {} });
      await history.untilSucceeded(committed.length);
      await next.stop();
      expect(outbox.check(committed, history)).toEqual(onceEach);
    });
  },
);

describe('a pipeline that stops', () => {
  test('does not wait for keys that are in backoff or have halted', async () => {
    await using outbox = await testOutbox(anyKind);
    await using pipelines = new Pipelines(outbox, 'drain');
    const pipeline = pipelines.define(
      (event) => {
        throw event.key === 'halting' ? new PermanentError('for good') : new Error('for now');
      },
      { retry: { initialDelay: 600_000, maxDelay: 600_000, jitter: 'none' } },
    );
    await pipeline.start();
    const ids = await outbox.insert(rowsOf('halting', 'failing', 'halting'));
    await waitUntil('both have failed', () => {
      const { halted, backoff } = pipeline.status();
      return halted + backoff === 2;
    });
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(5_000);

    const history = new MemoryHistory();
    await using next = pipelines.define(new ScriptedHandler(history.record).handle);
    await next.start();
    await history.untilSucceeded(3);
    expect(history.ids('succeeded').sort()).toEqual([...ids].sort());
  });
});

describe('stop() may be called', () => {
  test('twice, and at once', async () => {
    await using outbox = await testOutbox(anyKind);
    await using pipelines = new Pipelines(outbox, 'drain');
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const pipeline = pipelines.define(handler.handle);
    await pipeline.start();
    await outbox.insert(rowsOf('k1'));
    await history.until('it runs', () => history.isRunning('k1', 1));
    const stops = [pipeline.stop(), pipeline.stop(), pipeline.finished];
    expect(pipeline.status().state).toBe('stopping');
    handler.release();
    await Promise.all(stops);
    await pipeline.stop();
    expect(pipeline.status().state).toBe('stopped');
    expect(history.ids('succeeded').length).toBe(1);
  });

  test('before start(), which then says that it is too late', async () => {
    await using outbox = await testOutbox(anyKind);
    await using pipelines = new Pipelines(outbox, 'drain');
    const pipeline = pipelines.define(() => undefined);
    await pipeline.stop();
    await pipeline.finished;
    expect(pipeline.status().state).toBe('stopped');
    await expect(pipeline.start()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    expect(pipelines.storage.size, 'it has owned nothing').toBe(0);
  });

  test('while it starts', async () => {
    await using outbox = await testOutbox(anyKind);
    await using pipelines = new Pipelines(outbox, 'drain');
    const pipeline = pipelines.define(() => undefined);
    const starting = pipeline.start();
    await pipeline.stop();
    await starting;
    expect(pipeline.status().state).toBe('stopped');
  });

  test.each([
    ['before its first await, and awaited', (pipeline: Pipeline) => pipeline.stop()],
    [
      'after an await',
      async (pipeline: Pipeline) => {
        await Promise.resolve();
        void pipeline.stop();
      },
    ],
  ])('from inside a handler, %s: its event counts as handled', async (_, stop) => {
    await using outbox = await testOutbox(anyKind);
    const witness = await outbox.witness();
    await using pipelines = new Pipelines(outbox, 'drain');
    const history = new MemoryHistory();
    const pipeline = pipelines.define(async (event, { attempt }) => {
      await recorded(history.record, { run: 1, attempt, events: [event] }, () => stop(pipeline));
    });
    await pipeline.start();
    await outbox.insert(rowsOf('k1', 'k1', 'k1'));
    expect(await milliseconds(() => pipeline.finished)).toBeLessThan(5_000);
    expect(history.ids('succeeded').length).toBe(1);

    await using next = pipelines.define(new ScriptedHandler(history.record, {}, 2).handle);
    await next.start();
    await history.untilSucceeded(3);
    expect(outbox.check(await witness.events(), history)).toEqual(onceEach);
  });
});

describe('handlers that take longer than drainTimeout', () => {
  test('are told by ctx.signal; what they make of it counts', async () => {
    const drainTimeout = 300;
    await using outbox = await testOutbox(anyKind);
    const witness = await outbox.witness();
    await using pipelines = new Pipelines(outbox, 'drain');
    const history = new MemoryHistory();
    const pipeline = pipelines.define(
      (event, { attempt, signal }) =>
        recorded(history.record, { run: 1, attempt, events: [event] }, async () => {
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
          if (event.key === 'gives up') throw signal.reason;
        }),
      { drainTimeout },
    );
    await pipeline.start();
    const [done = '', undone = ''] = await outbox.insert(rowsOf('ends well', 'gives up'));
    await history.until('both run', () => history.entries.length === 2);
    const time = await milliseconds(() => pipeline.stop());
    expect(time).toBeGreaterThanOrEqual(drainTimeout - 1);
    expect(time).toBeLessThan(drainTimeout + 4_000);
    expect(history.ids('succeeded')).toEqual([done]);

    await using next = pipelines.define(new ScriptedHandler(history.record, {}, 2).handle);
    await next.start();
    await history.untilSucceeded(2);
    const judgement = outbox.check(await witness.events(), history);
    expect(judgement).toMatchObject(faultless);
    expect(idsOf(judgement.duplicates)).toEqual([undone]);
  });

  test.each([
    ['it owns the log', false],
    ['it has lost it', true],
  ])('and that do not listen do not hold the process up for ever, when %s', async (_, isLost) => {
    await using outbox = await testOutbox(anyKind);
    await using pipelines = new Pipelines(outbox, 'drain');
    const { storage, log } = pipelines;
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const pipeline = pipelines.define(handler.handle, { drainTimeout: 100 });
    await pipeline.start();
    await outbox.insert(rowsOf('k1'));
    await history.until('it runs', () => history.isRunning('k1', 1));
    if (isLost) {
      const identity = storage.get('drain')?.identity ?? {};
      await memoryOffsets({ storage }).claim('drain', { identity, watermark: '' });
      await outbox.insert(rowsOf('k2'));
      await waitUntil('it gives the log up', () => log.has('do not heed their signal'));
    }
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(8_000);
    expect(pipeline.status().state).toBe('stopped');
    expect(log.has('their events will be delivered again')).toBe(true);
    handler.release();
  });
});

describe.each(databaseKinds)('%s: it stops promptly', (kind) => {
  test('while the server is out of reach', async () => {
    await using outbox = await testOutbox(kind);
    await using proxy = await TcpProxy.start(outbox.url);
    await using pipelines = new Pipelines(outbox, 'drain');
    const history = new MemoryHistory();
    const pipeline = await pipelines.start(new ScriptedHandler(history.record).handle, {
      source: { url: proxy.url, silenceTimeout: 1_000, connectTimeout: 15_000 },
    });
    await outbox.insert(rowsOf('k'));
    await history.untilSucceeded(1);
    proxy.freezeNewOnes();
    proxy.freeze();
    const { accepted } = proxy;
    await waitUntil('it connects, and gets no answer', () => proxy.accepted > accepted);
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(5_000);
    expect(pipeline.status().state).toBe('stopped');
  });

  test('while it stands by, and the server is out of reach', async () => {
    await using outbox = await testOutbox(kind);
    await using proxy = await TcpProxy.start(outbox.url);
    await using pipelines = new Pipelines(outbox, 'drain');
    await pipelines.start(() => undefined);
    const standby = await pipelines.start(() => undefined, { source: { url: proxy.url } });
    expect(standby.status().state).toBe('standby');
    proxy.freezeNewOnes();
    proxy.freeze();
    expect(await milliseconds(() => standby.stop())).toBeLessThan(5_000);
    expect(standby.status().state).toBe('stopped');
  });

  test('while Redis is away; what could not be saved comes again', async () => {
    await using redis = await startRedis({ exclusive: true });
    await using outbox = await testOutbox(kind);
    await using pipelines = new Pipelines(outbox, 'drain');
    const witness = await outbox.witness();
    const history = new MemoryHistory();
    const start = (run: number): Promise<Pipeline> =>
      pipelines.start(new ScriptedHandler(history.record, {}, run).handle, {
        offsets: redisOffsets({ url: redis.url, commandTimeout: 300 }),
      });
    const pipeline = await start(1);
    const [a = ''] = await outbox.insert(rowsOf('k'));
    await history.untilSucceeded(1);
    await waitUntil('it is saved', () => {
      const { settled, unsaved } = pipeline.status();
      return settled === 1 && unsaved === 0;
    });
    await redis.kill();
    const [b = ''] = await outbox.insert(rowsOf('k'));
    await history.untilSucceeded(2);
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(5_000);
    await redis.start();

    await start(2);
    const [c = ''] = await outbox.insert(rowsOf('k'));
    await history.untilSucceeded(3);
    const judgement = outbox.check(await witness.events(), history);
    expect(judgement).toMatchObject(faultless);
    expect(idsOf(judgement.duplicates)).toEqual([b]);
    expect([a, b, c]).toEqual([...history.succeeded]);
  });
});
