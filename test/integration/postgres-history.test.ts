import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LogReader, LogStart, OutboxEvent } from '@strandline/core';
import { startPostgres } from '@strandline/servers';
import {
  insertRows,
  OutboxWriters,
  PostgresCommitWitness,
  PostgresOutboxSession,
  rowsInTurn,
  rowsOf,
  TestLog,
  waitUntil,
} from '@strandline/test-kit';
import { postgres, type Pipeline, type PostgresOptions } from 'strandline';
import { describe, expect, test } from 'vitest';
import { App } from './source-app.js';

const HOUR = 3_600_000;
const RETENTION = { retention: { age: HOUR } };

function reader(
  app: App,
  from: LogStart,
  {
    signal = new AbortController().signal,
    ...options
  }: Partial<PostgresOptions> & { signal?: AbortSignal } = {},
): Promise<LogReader> {
  const source = postgres({ ...app.source, reconnect: { initialDelay: 10, maxDelay: 100 }, ...options });
  return source.reader({ pipeline: 'app', from, signal, log: app.log });
}

/** Reads until so many events have come. */
async function read(log: LogReader, count: number): Promise<OutboxEvent[]> {
  const events: OutboxEvent[] = [];
  for await (const batch of log.read()) {
    events.push(...batch.events);
    if (events.length >= count) return events;
  }
  throw new Error(`reading ended after ${String(events.length)} events`);
}

const idsOf = (events: readonly OutboxEvent[]): string[] => events.map(({ id }) => id);

/** What a start is refused with: it names the remedy, and it leaves nothing behind. */
async function refusal(app: App, from: LogStart, options: Partial<PostgresOptions> = {}): Promise<unknown> {
  const error = await reader(app, from, options).then(
    () => expect.fail('it was opened'),
    (reason: unknown) => reason,
  );
  await untilNothingIsLeft(app);
  return error;
}

/** Slots and sessions of others than the pipeline's owner: gone within a moment. */
async function untilNothingIsLeft({ db, source }: App): Promise<void> {
  await db.waitFor(
    'temporary slots are gone',
    'SELECT NOT EXISTS (SELECT FROM pg_replication_slots WHERE database = current_database() AND slot_name <> $1)',
    [source.slot],
  );
}

async function slotOf({ db, source }: App): Promise<unknown> {
  const sql = `SELECT confirmed_flush_lsn::text, restart_lsn::text, active_pid FROM pg_replication_slots
    WHERE slot_name = $1`;
  const { rows } = await db.pool.query<Record<string, unknown>>(sql, [source.slot]);
  return rows[0];
}

async function untilSaved(app: App, pipeline: Pipeline, count: number): Promise<void> {
  await app.untilHandled(count);
  await waitUntil('all is saved', () => pipeline.status().unsaved === 0);
}

/** A pipeline that has saved these rows, all of one key, keeps its log, and runs or has stopped. */
async function withHistory(
  app: App,
  rows: number,
  state: 'runs' | 'has stopped' = 'runs',
): Promise<Pipeline> {
  const pipeline = await app.start(RETENTION);
  for (let done = 0; done < rows; done += 10) await insertRows(app.db.pool, rowsInTurn(10, 1));
  await untilSaved(app, pipeline, rows);
  if (state === 'has stopped') {
    await app.stop(pipeline);
    await app.db.waitForSlot(app.source.slot, 'inactive');
  }
  return pipeline;
}

describe('the log is read again from every kind of start, in order and completely', () => {
  test('while the pipeline runs, and several transactions write at once and commit late', async () => {
    await using app = await App.create();
    const witness = await PostgresCommitWitness.start(app.db);
    await app.start(RETENTION);
    await using writers = new OutboxWriters(() => PostgresOutboxSession.open(app.db.url), {
      writers: 6,
      linger: 20,
      keys: 5,
    });
    await waitUntil('they have written', () => writers.committed >= 150);
    await using early = await reader(app, 'earliest');
    await using late = await reader(app, 'now');
    await waitUntil('they have written on', () => writers.committed >= 300);
    await writers.stop();
    const committed = (await witness.events()).map(({ id }) => id);
    const all = await read(early, committed.length);
    expect(idsOf(all)).toEqual(committed);

    const middle = all[100];
    await using after = await reader(app, { after: middle?.position ?? '', identity: early.identity });
    expect(idsOf(await read(after, committed.length - 101))).toEqual(committed.slice(101));

    const time = all[120]?.transaction.commitTime ?? '';
    const first = all.findIndex(({ transaction }) => transaction.commitTime >= time);
    await using timed = await reader(app, { time });
    expect(idsOf(await read(timed, committed.length - first))).toEqual(committed.slice(first));

    const since =
      committed.length - all.filter(({ position }) => early.compare(position, late.start) > 0).length;
    expect(idsOf(await read(late, committed.length - since))).toEqual(committed.slice(since));
    await app.untilHandled(committed.length);
  });

  test('while nobody runs it: its slot and its offset stay where they are', async () => {
    await using app = await App.create();
    await withHistory(app, 50, 'has stopped');
    const before = [await slotOf(app), structuredClone([...app.storage])];
    await using log = await reader(app, 'earliest');
    const events = await read(log, 50);
    expect(idsOf(events)).toEqual(app.ids);
    await log.close();
    await untilNothingIsLeft(app);
    expect([await slotOf(app), [...app.storage]]).toEqual(before);
  });

  test('beside its owner, whose slot and offset nothing but its own work moves', async () => {
    await using app = await App.create();
    const pipeline = await withHistory(app, 50);
    const before = await slotOf(app);
    await using log = await reader(app, 'earliest');
    expect(idsOf(await read(log, 50))).toEqual(app.ids);
    expect(await slotOf(app)).toEqual(before);
    expect(pipeline.status()).toMatchObject({ state: 'running', epoch: 1, source: { reconnects: 0 } });
  });

  test('from the middle of a transaction of 20,000 rows', async () => {
    await using app = await App.create();
    const pipeline = await app.start(RETENTION);
    await insertRows(app.db.pool, rowsInTurn(20_000, 10));
    await untilSaved(app, pipeline, 20_000);
    const { position = '' } = app.handled.find(({ transaction }) => transaction.ordinal === 12_346) ?? {};
    await using log = await reader(app, {
      after: position,
      identity: app.storage.get('app')?.identity ?? {},
    });
    const events = await read(log, 20_000 - 12_346);
    expect(events.map(({ transaction }) => transaction.ordinal)).toEqual(
      Array.from({ length: 20_000 - 12_346 }, (_, i) => 12_347 + i),
    );
  });

  test('a tableless outbox too', async () => {
    await using app = await App.withTables('CREATE TABLE unused (n int)');
    const messages = {
      outbox: undefined,
      messages: { prefix: 'shop' },
    } as unknown as Partial<PostgresOptions>;
    const pipeline = await app.start({ ...messages, ...RETENTION });
    for (const key of ['a', 'a', 'a'])
      await app.db.pool.query(`SELECT pg_logical_emit_message(true, 'shop', $1)`, [JSON.stringify({ key })]);
    await untilSaved(app, pipeline, 3);
    await using log = await reader(app, 'earliest', messages);
    const events = await read(log, 3);
    expect(events.map(({ position, key }) => [position, key])).toEqual(
      app.handled.map(({ position, key }) => [position, key]),
    );
  });
});

describe("'now'", () => {
  test('needs no slot of the pipeline, and makes none', async () => {
    await using app = await App.create();
    await app.stop(await app.start());
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    await using log = await reader(app, 'now');
    const ids = await insertRows(app.db.pool, rowsOf('a', 'b'));
    expect(idsOf(await read(log, 2))).toEqual(ids);
    expect(await app.hasSlot()).toBe(false);
  });

  test('waits for the transactions that are open, unless it is given up', async () => {
    await using app = await App.create();
    await app.start();
    await using open = await PostgresOutboxSession.open(app.db.url);
    await open.begin();
    await open.insert(rowsOf('open'));
    const abort = new AbortController();
    const opening = reader(app, 'now', { signal: abort.signal });
    const refused = expect(opening).rejects.toThrow();
    await app.db.waitFor(
      'it waits',
      `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
         AND query LIKE 'CREATE_REPLICATION_SLOT%' AND wait_event_type = 'Lock')`,
    );
    abort.abort();
    await refused;
    await untilNothingIsLeft(app);
    await open.commit();
  });
});

describe('what the log does not have any more is refused', () => {
  test('a position that was released: the refusal says how far the log reaches back, and names the remedy', async () => {
    await using app = await App.create();
    const pipeline = await app.start();
    await insertRows(app.db.pool, rowsOf('a', 'b'));
    await untilSaved(app, pipeline, 2);
    const { position = '' } = app.handled[0] ?? {};
    const { identity = {} } = app.storage.get('app') ?? {};
    const { rows } = await app.db.pool.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
    await app.db.waitFor(
      'it is released',
      'SELECT confirmed_flush_lsn >= $2 FROM pg_replication_slots WHERE slot_name = $1',
      [app.source.slot, rows[0]?.lsn],
    );
    const error = await refusal(app, { after: position, identity });
    expect(error).toMatchObject({
      code: 'PG_HISTORY_GONE',
      message: expect.stringMatching(/reaches back to [0-9A-F]+\/[0-9A-F]+ only/) as string,
      remedy: expect.stringContaining('retention') as string,
    });
  });

  test('everything, where there is no slot', async () => {
    await using app = await App.create();
    await app.stop(await app.start());
    const { identity = {}, watermark = '' } = app.storage.get('app') ?? {};
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    for (const from of [
      'earliest',
      { after: watermark, identity },
      { time: new Date().toISOString() },
    ] as const)
      expect(await refusal(app, from)).toMatchObject({ code: 'PG_HISTORY_GONE' });
  });

  test('a row of the start snapshot', async () => {
    await using app = await App.create();
    await insertRows(app.db.pool, rowsOf('a'));
    const pipeline = await app.start({ ...RETENTION, start: 'snapshot' });
    await untilSaved(app, pipeline, 1);
    const { position = '' } = app.handled[0] ?? {};
    const { identity = {} } = app.storage.get('app') ?? {};
    const error = await refusal(app, { after: position, identity });
    expect(error).toMatchObject({ code: 'PG_HISTORY_GONE' });
  });

  test('a time that the log certainly begins after; where it can’t be told, that is said', async () => {
    await using app = await App.create();
    const pipeline = await withHistory(app, 10);
    await app.db.pool.query('CHECKPOINT');
    const time = new Date(Date.now() - HOUR).toISOString();
    {
      await using log = await reader(app, { time });
      expect(idsOf(await read(log, 10))).toEqual(app.ids);
      expect(app.log.count('whether it reaches back so far can not be told')).toBe(1);
    }
    await app.stop(pipeline);
    // Without retention what was held is let go of.
    await app.start();
    await insertRows(app.db.pool, rowsOf('a'));
    await app.db.waitFor(
      'it is released',
      'SELECT confirmed_flush_lsn >= redo_lsn FROM pg_replication_slots, pg_control_checkpoint() WHERE slot_name = $1',
      [app.source.slot],
    );
    expect(await refusal(app, { time })).toMatchObject({ code: 'PG_HISTORY_GONE' });
  });

  test('a time of which there was something before needs no such word', async () => {
    await using app = await App.create();
    await withHistory(app, 20);
    const time = app.handled[15]?.transaction.commitTime ?? '';
    await using log = await reader(app, { time });
    await read(log, 10);
    expect(app.log.has('can not be told')).toBe(false);
  });

  test('what is no time, a foreign log, and a publication that is not there', async () => {
    await using app = await App.create();
    expect(await refusal(app, 'now')).toMatchObject({ code: 'PG_PUBLICATION_MISSING' });
    expect((await app.db.pool.query('SELECT FROM pg_publication')).rowCount).toBe(0);
    await app.start();
    expect(await refusal(app, { time: 'yesterday' })).toMatchObject({ code: 'PG_POSITION' });
    const { identity = {}, watermark = '' } = app.storage.get('app') ?? {};
    for (const field of ['system', 'database', 'slot'])
      expect(
        await refusal(app, { after: watermark, identity: { ...identity, [field]: 'another' } }),
      ).toMatchObject({ code: 'PG_OFFSET_FOREIGN' });
    expect(await refusal(app, { after: watermark, identity: { ...identity, timeline: '7' } })).toMatchObject({
      code: 'PG_TIMELINE',
    });
  });
});

describe('a connection that breaks', () => {
  const cut = (app: App): Promise<unknown> =>
    app.db.pool.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'walsender'`,
    );

  test('goes on after what was handed over, also where nothing but the slot of the pipeline has it', async () => {
    await using app = await App.create();
    await withHistory(app, 10);
    await using log = await reader(app, 'now');
    const events: string[] = [];
    const reading = (async () => {
      for await (const batch of log.read()) events.push(...idsOf(batch.events));
    })();
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      ids.push(...(await insertRows(app.db.pool, rowsOf('a', 'b'))));
      await waitUntil('they have come', () => events.length === ids.length);
      await cut(app);
      ids.push(...(await insertRows(app.db.pool, rowsOf('c'))));
    }
    await waitUntil('the last ones have come', () => events.length === ids.length);
    expect(events).toEqual(ids);
    await log.close();
    await reading;
    await untilNothingIsLeft(app);
  });

  test('ends the reading with an error when the log that follows was released meanwhile', async () => {
    await using app = await App.create();
    const pipeline = await withHistory(app, 10);
    await app.stop(pipeline);
    await using log = await reader(app, 'earliest');
    const reading = log.read()[Symbol.asyncIterator]();
    await reading.next();
    await insertRows(app.db.pool, rowsOf('z'));
    // The pipeline is gone and its slot with it: nothing keeps the log but this session.
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    await cut(app);
    const over = (async () => {
      while ((await reading.next()).done !== true);
    })();
    await expect(over).rejects.toMatchObject({ code: 'PG_HISTORY_GONE' });
    await untilNothingIsLeft(app);
  });
});

describe('nothing is left behind', () => {
  test('by a process that is killed', async () => {
    await using app = await App.create();
    await withHistory(app, 10);
    const script = `
      import { postgres } from '@strandline/source-postgres';
      const { source } = JSON.parse(process.argv[1]);
      const quiet = () => undefined;
      const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
      const signal = new AbortController().signal;
      const reader = await postgres(source).reader({ pipeline: 'app', from: 'earliest', signal, log });
      for await (const { events } of reader.read()) if (events.length > 0) console.log('reads');`;
    const child = spawn(
      process.execPath,
      ['--input-type=module', '--eval', script, '--', JSON.stringify({ source: app.source })],
      {
        cwd: fileURLToPath(new URL('../../packages/strandline', import.meta.url)),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(child.stdout, 'data');
    const { rowCount } = await app.db.pool.query(
      'SELECT FROM pg_replication_slots WHERE database = current_database() AND temporary',
    );
    expect(rowCount).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await untilNothingIsLeft(app);
  });

  test('by a reader that stops at a row that can’t be an event', async () => {
    await using app = await App.withTables(
      'CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text, payload text)',
    );
    const pipeline = await app.start({ ...RETENTION, nullKey: 'unordered' });
    await app.db.pool.query(`INSERT INTO outbox (key) VALUES ('a'), (NULL)`);
    await untilSaved(app, pipeline, 2);
    const log = await reader(app, 'earliest');
    const seen: string[] = [];
    const over = (async () => {
      for await (const { events } of log.read()) seen.push(...idsOf(events));
    })();
    await expect(over).rejects.toMatchObject({ code: 'PG_NULL_KEY' });
    expect(seen).toEqual(['1']);
    await untilNothingIsLeft(app);
    await log.close();
  });

  test('by one that nobody reads: it holds no more than its limit, and the owner goes on', async () => {
    await using app = await App.create();
    await app.start(RETENTION);
    await using log = await reader(app, 'earliest');
    for (let round = 0; round < 8; round += 1)
      await insertRows(
        app.db.pool,
        rowsInTurn(1_000, 10).map((row) => ({ ...row, payload: 'x'.repeat(4_000) })),
      );
    await app.untilHandled(8_000);
    const { rows } = await app.db.pool.query<{ waiting: boolean }>(
      `SELECT sent_lsn < pg_current_wal_lsn() AS waiting FROM pg_stat_replication
       JOIN pg_replication_slots ON active_pid = pid WHERE temporary AND database = current_database()`,
    );
    expect(rows).toEqual([{ waiting: true }]);
    expect(idsOf(await read(log, 8_000))).toEqual(app.ids);
  });
});

describe('a server', () => {
  test('without room for one more slot says so, and the owner goes on', async () => {
    await using server = await startPostgres({ exclusive: true, settings: { max_replication_slots: '1' } });
    await using app = await App.create(server.url);
    const pipeline = await app.start(RETENTION);
    for (const from of ['earliest', 'now'] as const) {
      expect(await refusal(app, from)).toMatchObject({
        code: 'PG_SLOT_LIMIT',
        message: expect.stringContaining('max_replication_slots') as string,
      });
    }
    const ids = await insertRows(app.db.pool, rowsOf('a'));
    await app.untilHandled(1);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });

  test('that is only looked at stays as it is: no slot, no publication', async () => {
    await using app = await App.create();
    const source = postgres(app.source);
    const request = { pipeline: 'app', signal: new AbortController().signal, log: new TestLog() };
    await expect(source.inspect(request)).rejects.toMatchObject({ code: 'PG_PUBLICATION_MISSING' });
    await app.stop(await app.start());
    const state = await source.inspect(request);
    expect(state.earliest).not.toBeNull();
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    const without = await source.inspect(request);
    expect(without).toMatchObject({ earliest: null, retainedBytes: null, identity: state.identity });
    expect(without.compare(state.head, without.head)).toBeLessThanOrEqual(0);
    expect(await app.hasSlot()).toBe(false);
  });
});
