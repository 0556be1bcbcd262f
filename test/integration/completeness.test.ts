import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseKinds,
  faultless,
  MemoryHistory,
  onceEach,
  PipelineRuns,
  rowsInTurn,
  ScriptedHandler,
  TestLog,
  testOutbox,
  testRedis,
  waitUntil,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';

describe('every insert committed after the start reaches the handler', () => {
  test.each([
    ['postgres', 'redis'],
    ['mysql', 'file'],
    ['mariadb', 'redis'],
  ] as const)(
    'when the process is killed at random instants under load: %s, with offsets in a %s',
    // A process is started again and again, on a machine that is busy with others.
    { timeout: 150_000 },
    async (kind, offsets) => {
      const kills = 5;
      await using outbox = await testOutbox(kind);
      await using redis = await testRedis();
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, {
        name: 'kills',
        source: { reconnect: { maxDelay: 200 } },
        ...(offsets === 'redis' && { offsets: { kind: offsets, url: redis.url, keyPrefix: redis.prefix } }),
        tuning: { retry: { attempts: 1_000, initialDelay: 5, maxDelay: 50 } },
        behaviour: { delay: 10, jitter: true, failRate: 0.05 },
      });
      const { history } = runs;
      // The first start sets the place from where on it is promised.
      await (await runs.start()).kill();

      await using writers = outbox.writers();
      for (let kill = 0; kill < kills; kill += 1) {
        const life = runs.launch();
        const fromLaunch = kill % 4 === 3;
        if (!fromLaunch) {
          const hasStarted = (): boolean => history.ids('started', life.run).length > 0;
          await history.until(`run ${String(life.run)} handles events`, hasStarted);
        }
        // An instant that nothing chose: it falls into start, reading, handling, saving or confirming.
        await sleep(Math.random() * (fromLaunch ? 1_000 : 300));
        await life.kill();
      }
      await writers.stop();
      const last = await runs.start();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      expect(await last.stop()).toEqual({ code: 0, signal: null });

      expect(committed.length).toBeGreaterThan(300);
      expect(outbox.check(committed, history)).toMatchObject(faultless);
    },
  );
});

describe.each(databaseKinds)('%s: every insert committed after the start reaches the handler', (kind) => {
  test('when its sessions with the server are ended under load, and none of them twice', async () => {
    await using outbox = await testOutbox(kind);
    const sessions = outbox.sessionsOf('cuts');
    const witness = await outbox.witness();
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { delay: 5, jitter: true });
    await using pipeline = definePipeline({
      name: 'cuts',
      source: outbox.source({ reconnect: { initialDelay: 10, maxDelay: 50 } }),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();

    await using writers = outbox.writers();
    const cuts = [['log'], ['query'], ['log'], ['query'], ['log', 'query'], ['log', 'query']] as const;
    for (const [cut, kinds] of cuts.entries()) {
      await history.untilSucceeded(history.succeeded.size + 50);
      await sessions.end(...kinds);
      await waitUntil('it is connected again', () => (pipeline.status().source?.reconnects ?? 0) > cut);
    }
    await writers.stop();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);

    expect(outbox.check(committed, history)).toEqual(onceEach);
    expect(history.ids('started').length).toBe(committed.length);
    expect(pipeline.status().epoch, 'it was the owner all along').toBe(1);
  });

  test('all rows of a statement and of a transaction, in the order in which they were inserted', async () => {
    await using outbox = await testOutbox(kind);
    const witness = await outbox.witness();
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'rows',
      source: outbox.source(),
      offsets: memoryOffsets(),
      concurrency: 1,
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();

    // The ids go down, so that they can't decide the order.
    const expected: string[] = [];
    await using session = await outbox.session();
    const insert = async (count: number): Promise<void> => {
      const base = 1_000_000 - expected.length;
      const rows = Array.from({ length: count }, (_, index) => ({ id: String(base - index), key: 'k' }));
      expected.push(...(await session.insert(rows)));
    };
    await insert(1_000);
    await session.begin();
    for (const count of [1, 2, 300, 1, 50]) await insert(count);
    await session.commit();
    expected.push(...(await outbox.insert(rowsInTurn(500, 7))));
    await history.untilSucceeded(expected.length);

    const transactions = await witness.transactions();
    expect(transactions.map(({ events }) => events.length)).toEqual([1_000, 354, 500]);
    const committed = transactions.flatMap(({ events }) => events);
    expect(committed.map(({ id }) => id)).toEqual(expected);
    expect(outbox.check(committed, history)).toEqual(onceEach);
  });
});
