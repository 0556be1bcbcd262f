import { setTimeout as sleep } from 'node:timers/promises';
import type { Offset } from '@strandline/core';
import { startMariadb } from '@strandline/servers';
import {
  checkHistory,
  createMysqlOutbox,
  insertMysqlRows,
  MemoryHistory,
  MysqlCommitWitness,
  MysqlOutboxWriters,
  MysqlSessions,
  PipelineRuns,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  testMysqlDatabase,
  TestLog,
  waitUntil,
  watchFor,
  witnessed,
  type OutboxRow,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { RowDataPacket } from 'mysql2/promise';
import { definePipeline, fileOffsets, memoryOffsets, mysql, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { lockName } from '../../packages/source-mysql/src/lock.js';

const kept = { missing: [], violations: [] };
const onceEach = { ...kept, redelivered: [] };

const lockOf = (db: TestMysqlDatabase, pipeline: string): string => lockName(`${db.name}.outbox`, pipeline);

describe.each(['mysql', 'mariadb'] as const)(
  '%s: every insert committed after the start reaches the handler',
  (kind) => {
    test('when the process is killed at random instants under load', async () => {
      const kills = 6;
      await using db = await testMysqlDatabase(kind);
      const source = await createMysqlOutbox(db);
      const witness = await MysqlCommitWitness.start(db);
      await using runs = await PipelineRuns.prepare({
        name: 'kills',
        source: { mysql: { ...source, reconnect: { maxDelay: 200 } } },
        tuning: { retry: { attempts: 1_000, initialDelay: 5, maxDelay: 50 } },
        behaviour: { delay: 10, jitter: true, failRate: 0.05 },
      });
      const { history } = runs;
      // The offset is there from the first start on: what commits before it is not promised.
      await (await runs.start()).kill();

      await using writers = new MysqlOutboxWriters(db, { linger: 20 });
      for (let kill = 0; kill < kills; kill += 1) {
        const life = runs.launch();
        const fromLaunch = kill % 3 === 2;
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
      expect(checkHistory(committed, witnessed(history.refresh().entries))).toMatchObject(kept);
    });

    test('also a row whose transaction took a small id and committed late: in commit order, over a restart', async () => {
      await using db = await testMysqlDatabase(kind);
      const source = await createMysqlOutbox(db);
      const history = new MemoryHistory();
      const storage = new Map<string, Offset>();
      const start = async (run: number): Promise<Pipeline> => {
        const pipeline = definePipeline({
          name: 'late',
          source: mysql(source),
          offsets: memoryOffsets({ storage }),
          log: new TestLog(),
          handle: new ScriptedHandler(history.record, {}, run).handle,
        });
        await pipeline.start();
        return pipeline;
      };
      const late = await db.pool.getConnection();
      const later = await db.pool.getConnection();
      const ids: string[] = [];
      {
        await using before = await start(1);
        await late.beginTransaction();
        await later.beginTransaction();
        const [first = ''] = await insertMysqlRows(late, rowsOf('k'));
        const [second = ''] = await insertMysqlRows(later, rowsOf('k'));
        const [third = ''] = await insertMysqlRows(db.pool, rowsOf('k'));
        expect(Number(first)).toBeLessThan(Number(third));
        await history.untilSucceeded(1);
        await late.commit();
        await history.untilSucceeded(2);
        ids.push(third, first, second);
        await waitUntil('all is saved', () => before.status().unsaved === 0);
      }
      await using after = await start(2);
      await later.commit();
      await history.untilSucceeded(3);
      expect(history.ids('succeeded')).toEqual(ids);
      expect(after.status().settled).toBe(1);
      late.release();
      later.release();
    });

    test('and many of those, under load', async () => {
      await using db = await testMysqlDatabase(kind);
      const source = await createMysqlOutbox(db);
      const witness = await MysqlCommitWitness.start(db);
      const history = new MemoryHistory();
      await using pipeline = definePipeline({
        name: 'late',
        source: mysql(source),
        offsets: memoryOffsets(),
        log: new TestLog(),
        handle: new ScriptedHandler(history.record).handle,
      });
      await pipeline.start();
      await using writers = new MysqlOutboxWriters(db, { writers: 6, linger: 20, keys: 5 });
      await waitUntil('the writers have written', () => writers.committed >= 500);
      await writers.stop();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      const ids = committed.map(({ id }) => Number(id));
      expect(ids, 'ids are not in commit order').not.toEqual(ids.toSorted((a, b) => a - b));
      expect(checkHistory(committed, witnessed(history.entries))).toEqual(onceEach);
    });

    test('when its dump and its other sessions are killed under load, and none of them twice', async () => {
      await using db = await testMysqlDatabase(kind);
      const sessions = new MysqlSessions(db, lockOf(db, 'cuts'));
      const source = mysql({
        ...(await createMysqlOutbox(db)),
        reconnect: { initialDelay: 10, maxDelay: 50 },
      });
      const witness = await MysqlCommitWitness.start(db);
      const history = new MemoryHistory();
      const handler = new ScriptedHandler(history.record, { delay: 5, jitter: true });
      await using pipeline = definePipeline({
        name: 'cuts',
        source,
        offsets: memoryOffsets(),
        log: new TestLog(),
        handle: handler.handle,
      });
      await pipeline.start();

      await using writers = new MysqlOutboxWriters(db);
      const cuts = [['dump'], ['query'], ['dump'], ['query'], ['dump', 'query'], ['dump', 'query']] as const;
      for (const [cut, kinds] of cuts.entries()) {
        await history.untilSucceeded(history.succeeded.size + 50);
        expect(await sessions.kill(...kinds)).toBeGreaterThanOrEqual(kinds.length);
        await waitUntil('it is connected again', () => (pipeline.status().source?.reconnects ?? 0) > cut);
      }
      await writers.stop();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      expect(checkHistory(committed, witnessed(history.entries))).toEqual(onceEach);
      expect(history.ids('started').length).toBe(committed.length);
      expect(pipeline.status().epoch, 'it was the owner all along').toBe(1);
    });

    test('when it is told to end by SIGTERM: what is in flight ends, is saved, and does not come again', async () => {
      await using db = await testMysqlDatabase(kind);
      const source = { mysql: await createMysqlOutbox(db) };
      const witness = await MysqlCommitWitness.start(db);
      await using runs = await PipelineRuns.prepare({
        name: 'drain',
        source,
        tuning: { concurrency: 8 },
        behaviour: { delay: 200 },
      });
      const { history } = runs;
      const first = await runs.start();
      await insertMysqlRows(db.pool, rowsInTurn(40, 10));
      await history.until('some are in flight', () => history.ids('started').length >= 8);
      first.signal('SIGTERM');
      expect(await first.exited).toEqual({ code: 0, signal: null });
      const started = history.refresh().ids('started');
      expect(history.ids('succeeded').toSorted()).toEqual(started.toSorted());

      const second = await runs.start({ behaviour: {} });
      await history.untilSucceeded(40);
      await second.stop();
      expect(checkHistory(await witness.events(), witnessed(history.refresh().entries))).toEqual(onceEach);
    });
  },
);

describe.each(['mysql', 'mariadb'] as const)(
  '%s: an event starts only after the previous one of its key has settled',
  (kind) => {
    test('while handlers are slow and fail at random', async () => {
      await using db = await testMysqlDatabase(kind);
      const source = mysql(await createMysqlOutbox(db));
      const witness = await MysqlCommitWitness.start(db);
      const history = new MemoryHistory();
      const handler = new ScriptedHandler(history.record, { delay: 8, jitter: true, failRate: 0.3 });
      await using pipeline = definePipeline({
        name: 'order',
        source,
        offsets: memoryOffsets(),
        concurrency: 16,
        retry: { attempts: Infinity, initialDelay: 2, maxDelay: 20 },
        log: new TestLog(),
        handle: handler.handle,
      });
      await pipeline.start();
      await using writers = new MysqlOutboxWriters(db, { keys: 40 });
      await waitUntil('the writers have written', () => writers.committed >= 1_000);
      await writers.stop();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      expect(checkHistory(committed, witnessed(history.entries))).toEqual(onceEach);
      expect(history.ids('failed').length, 'failures').toBeGreaterThan(committed.length * 0.2);
    });

    test('also when the process is killed: a key may see a suffix of its events again, and no gap and no swap', async () => {
      await using db = await testMysqlDatabase(kind);
      const source = { mysql: await createMysqlOutbox(db) };
      const witness = await MysqlCommitWitness.start(db);
      await using runs = await PipelineRuns.prepare({
        name: 'order',
        source,
        // One commit a second: much is settled and not saved when the process dies.
        tuning: { commitInterval: 1_000, retry: { attempts: 1_000, initialDelay: 2, maxDelay: 20 } },
        behaviour: { delay: 4, jitter: true, failRate: 0.2 },
      });
      const { history } = runs;
      let life = await runs.start();
      await using writers = new MysqlOutboxWriters(db, { keys: 8 });
      for (let kill = 0; kill < 3; kill += 1) {
        const { run } = life;
        await history.until('much was handled', () => history.ids('succeeded', run).length > 150);
        await life.kill();
        life = await runs.start();
      }
      await writers.stop();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      const { redelivered, ...rest } = checkHistory(committed, witnessed(history.entries));
      expect(rest).toEqual(kept);
      expect(redelivered.length).toBeGreaterThan(0);
    });

    test('also when the connection that holds the lock is lost: handlers are told, and it takes over from itself', async () => {
      await using db = await testMysqlDatabase(kind);
      const sessions = new MysqlSessions(db, lockOf(db, 'owner'));
      const source = mysql(await createMysqlOutbox(db));
      const history = new MemoryHistory();
      const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
      const aborted: string[] = [];
      await using pipeline = definePipeline({
        name: 'owner',
        source,
        offsets: memoryOffsets(),
        log: new TestLog(),
        handle: (event, ctx) => {
          ctx.signal.addEventListener('abort', () => aborted.push(event.key));
          return handler.handle(event, ctx);
        },
      });
      await pipeline.start();
      const [, b = ''] = await insertMysqlRows(db.pool, rowsOf('k1', 'k1'));
      await history.until('A runs', () => history.isRunning('k1', 1));

      expect(await sessions.kill('lock')).toBe(1);
      await waitUntil('the handler is told', () => aborted.includes('k1'), { deadlineMs: 2_000 });
      // It does not listen. Nothing of its key may start before it has ended, however long that takes.
      await watchFor(
        1_000,
        'only the first handler of k1 has started',
        () => history.ofKey('k1').length === 1,
      );
      expect(pipeline.status().epoch).toBe(1);
      handler.release('k1');
      await history.until('B is done', () => history.succeeded.has(b));
      expect(history.ofKey('k1').map(({ what }) => what)).toEqual([
        'started',
        'succeeded',
        'started',
        'succeeded',
        'started',
        'succeeded',
      ]);
      expect(pipeline.status().epoch).toBe(2);
    });
  },
);

describe.each(['mysql', 'mariadb'] as const)('%s: one process owns a pipeline', (kind) => {
  test('a standby takes over within 2 s after the owner was killed', async () => {
    await using db = await testMysqlDatabase(kind);
    const source = { mysql: await createMysqlOutbox(db) };
    const witness = await MysqlCommitWitness.start(db);
    await using runs = await PipelineRuns.prepare({
      name: 'two',
      source,
      behaviour: { delay: 5, jitter: true },
    });
    const { history } = runs;
    const owner = await runs.start();
    const standby = runs.launch();
    await standby.untilStatus('it stands by', ({ state }) => state === 'standby');
    await using writers = new MysqlOutboxWriters(db);
    await history.until('the owner works', () => history.ids('succeeded', 1).length > 50);
    expect(history.ids('started', 2)).toEqual([]);

    const killedAt = Date.now();
    await owner.kill();
    await history.until('the standby works', () => history.ids('started', 2).length > 0);
    const first = history.entries.find(({ run }) => run === 2);
    expect((first?.at ?? Infinity) - killedAt).toBeLessThan(2_000);
    await writers.stop();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);
    expect(await standby.stop()).toEqual({ code: 0, signal: null });
    expect(checkHistory(committed, witnessed(history.refresh().entries))).toMatchObject(kept);
  });
});

const rows = 10_000;

async function insertInOneTransaction(db: TestMysqlDatabase, all: readonly OutboxRow[]): Promise<void> {
  const connection = await db.pool.getConnection();
  await connection.beginTransaction();
  for (let from = 0; from < all.length; from += 1_000)
    await insertMysqlRows(connection, all.slice(from, from + 1_000));
  await connection.commit();
  connection.release();
}

/** One row of the slow key, then many of others. */
function slowOneFirst(): OutboxRow[] {
  return [{ key: 'slow' }, ...rowsInTurn(rows - 1, 100)];
}

/** A row of the slow key before each of the others: every second one can't be settled. */
function alternating(): OutboxRow[] {
  return rowsInTurn(rows / 2, 100).flatMap((row) => [{ key: 'slow' }, row]);
}

async function savedOffset(runs: PipelineRuns, pipeline: string): Promise<Offset> {
  if (runs.offsets.kind !== 'file') throw new Error('The offsets of this test lie in files.');
  await using store = fileOffsets({ directory: runs.offsets.directory });
  const offset = await store.load(pipeline);
  if (offset === null) throw new Error('Nothing was saved.');
  return offset;
}

/** File, offset and ordinal: enough to order the positions of one server. */
function placeOf(position: string): readonly [string, number, number] {
  const [, at = '', ordinal = ''] = position.split(';');
  const [file = '', offset = ''] = at.split(':');
  return [file, Number(offset), Number(ordinal)];
}

function isBehind(a: string, b: string): boolean {
  const [left, right] = [placeOf(a), placeOf(b)];
  if (left[0] !== right[0]) return left[0] < right[0];
  return left[1] === right[1] ? left[2] <= right[2] : left[1] < right[1];
}

function isSettledIn({ watermark, completed }: Offset, position: string): boolean {
  if (isBehind(position, watermark)) return true;
  return completed.some(({ first, last }) => isBehind(first, position) && isBehind(position, last));
}

describe.each(['mysql', 'mariadb'] as const)(
  '%s: after a crash only what was in flight, or settled since the last commit, is delivered again',
  (kind) => {
    test(`in the middle of a transaction of ${String(rows)} rows`, async () => {
      /** A commit every 100 ms, the time that it takes, and two busy cores. */
      const savedWithinMs = 1_000;
      await using db = await testMysqlDatabase(kind);
      const source = { mysql: await createMysqlOutbox(db) };
      const witness = await MysqlCommitWitness.start(db);
      await using runs = await PipelineRuns.prepare({
        name: 'few',
        source,
        behaviour: { delay: 30, jitter: true, hold: ['slow'] },
      });
      const { history } = runs;
      let life = await runs.start();
      await insertInOneTransaction(db, slowOneFirst());
      const committed = await witness.events();
      expect(committed.length).toBe(rows);

      const crashes: { next: number; started: Set<string>; saved: Set<string> }[] = [];
      for (let crash = 0; crash < 2; crash += 1) {
        const { run } = life;
        const settledBefore = (time: number): string[] =>
          history.entries
            .filter((entry) => entry.what === 'succeeded' && entry.run === run && entry.at < time)
            .flatMap(({ ids }) => ids);
        await history.until(
          'much was settled long ago',
          () => settledBefore(Date.now() - savedWithinMs).length > 500,
        );
        await life.kill();
        const killedAt = Date.now();
        const started = new Set(history.refresh().ids('started'));
        const offset = await savedOffset(runs, 'few');
        const saved = new Set(
          history.entries
            .filter(({ positions: [position = ''] }) => isSettledIn(offset, position))
            .flatMap(({ ids }) => ids),
        );
        // The offset knows all but the last moments.
        expect(history.succeeded.size, 'it is in the middle').toBeLessThan(rows - 1_000);
        expect(settledBefore(killedAt - savedWithinMs).filter((id) => !saved.has(id))).toEqual([]);

        life = await runs.start();
        crashes.push({ next: life.run, started, saved });
      }
      life.release();
      await history.untilSucceeded(rows);
      await life.stop();
      expect(checkHistory(committed, witnessed(history.refresh().entries))).toMatchObject(kept);
      // And what it knew did not come again.
      for (const { next, started, saved } of crashes) {
        const again = history.ids('started', next).filter((id) => started.has(id));
        expect(again.length, 'the slow one at least').toBeGreaterThan(0);
        expect(again.filter((id) => saved.has(id))).toEqual([]);
      }
    });

    test.each([
      [
        'however long one slow event has held the watermark, and thousands were settled above it',
        slowOneFirst,
        1,
      ],
      ['however many gaps there are in what was settled', alternating, rows / 2],
    ])(
      '%s; and no more after a second crash and a third right after the restart',
      async (_, insert, slow) => {
        await using db = await testMysqlDatabase(kind);
        const source = { mysql: await createMysqlOutbox(db) };
        const witness = await MysqlCommitWitness.start(db);
        await using runs = await PipelineRuns.prepare({ name: 'few', source, behaviour: { hold: ['slow'] } });
        const { history } = runs;
        const first = await runs.start();
        await insertInOneTransaction(db, insert());
        await history.untilSucceeded(rows - slow);
        await first.untilStatus('all of it is saved', (status) => status.unsaved === 0);
        await first.kill();
        expect((await savedOffset(runs, 'few')).completed.length).toBe(slow);

        const second = await runs.start();
        await history.until('the slow one runs again', () => history.isRunning('slow', 2));
        await second.kill();
        const third = await runs.start();
        await third.kill();

        const fourth = await runs.start({ behaviour: {} });
        await history.untilSucceeded(rows);
        await fourth.stop();
        const committed = await witness.events();
        const { redelivered, ...rest } = checkHistory(committed, witnessed(history.refresh().entries));
        expect(rest).toEqual(kept);
        expect(redelivered, 'the one that was in flight').toEqual([committed[0]?.id]);
        const timesInFlight = new Set(history.ofKey('slow').map(({ run }) => run)).size;
        expect(history.ids('started').length).toBe(rows + timesInFlight - 1);
      },
    );
  },
);

describe.each(['mysql', 'mariadb'] as const)("%s: visibility 'committed'", (kind) => {
  test('a handler that reads the row on another connection always finds it', async () => {
    await using db = await testMysqlDatabase(kind);
    const source = mysql(await createMysqlOutbox(db));
    const seen: string[] = [];
    const notFound: string[] = [];
    await using pipeline = definePipeline({
      name: 'visible',
      source,
      offsets: memoryOffsets(),
      concurrency: 4,
      log: new TestLog(),
      handle: async ({ id }) => {
        const [found] = await db.pool.query<RowDataPacket[]>('SELECT 1 FROM outbox WHERE id = ?', [id]);
        if (found.length === 0) notFound.push(id);
        seen.push(id);
      },
    });
    await pipeline.start();
    await using writers = new MysqlOutboxWriters(db, { linger: 0, rows: 1, rollbacks: 0, keys: 500 });
    await waitUntil('many were read back', () => seen.length >= 3_000, { deadlineMs: 30_000 });
    await writers.stop();
    expect(notFound).toEqual([]);
  });
});

describe("mariadb: visibility 'committed' where commits are slow", () => {
  test('a transaction that is logged and waits for its commit is handed out once it is visible', async () => {
    const waitMs = 400;
    // The log is sent to readers, and the commit waits for one of them to acknowledge it: no one does.
    await using server = await startMariadb({
      exclusive: true,
      settings: {
        'rpl-semi-sync-master-timeout': String(waitMs),
        'rpl-semi-sync-master-wait-point': 'AFTER_SYNC',
      },
    });
    await using db = await testMysqlDatabase('mariadb', server.url);
    const outbox = await createMysqlOutbox(db);
    const run = async (visibility: 'committed' | 'logged'): Promise<number[]> => {
      const found: number[] = [];
      await using pipeline = definePipeline({
        name: visibility,
        source: mysql({ ...outbox, visibility }),
        offsets: memoryOffsets(),
        log: new TestLog(),
        handle: async ({ id }) => {
          const [rows] = await db.pool.query<RowDataPacket[]>('SELECT 1 FROM outbox WHERE id = ?', [id]);
          found.push(rows.length);
        },
      });
      await pipeline.start();
      for (let round = 1; round <= 3; round += 1) {
        // It gives up waiting after the first time, until it is switched on again.
        await db.pool.query('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
        await db.pool.query('SET GLOBAL rpl_semi_sync_master_enabled = ON');
        const startedAt = performance.now();
        await insertMysqlRows(db.pool, rowsOf('k'));
        expect(performance.now() - startedAt, 'the commit waited').toBeGreaterThan(waitMs / 2);
        await waitUntil('it is handled', () => found.length === round);
      }
      return found;
    };
    expect(await run('logged'), 'the race is there').toEqual([0, 0, 0]);
    expect(await run('committed')).toEqual([1, 1, 1]);
  });
});
