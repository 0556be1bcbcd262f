import { startPostgres, type PostgresServer } from '@strandline/servers';
import {
  insertRows,
  onceEach,
  PipelineRuns,
  PostgresTestOutbox,
  rowsInTurn,
  rowsOf,
  waitUntil,
  type SourceTuning,
} from '@strandline/test-kit';
import type { Pipeline } from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from './source-app.js';

const MiB = 1024 * 1024;
const HOUR = 3_600_000;

interface Slot {
  readonly confirmed: number;
  readonly end: number;
  readonly kept: number;
}

/** Where the slot stands, where the log ends, and how much of it the server keeps: in bytes. */
async function slotOf({ db, source }: App): Promise<Slot> {
  const { rows } = await db.pool.query<Record<keyof Slot, string>>(
    `SELECT (confirmed_flush_lsn - '0/0')::text AS confirmed, (pg_current_wal_lsn() - '0/0')::text AS end,
            (pg_current_wal_lsn() - restart_lsn)::text AS kept
     FROM pg_replication_slots WHERE slot_name = $1`,
    [source.slot],
  );
  const { confirmed, end, kept } = rows[0] ?? {};
  return { confirmed: Number(confirmed), end: Number(end), kept: Number(kept) };
}

/** So many MiB of log that are none of the outbox's. */
async function writeElsewhere({ db }: App, mebibytes: number): Promise<void> {
  await db.pool.query('CREATE TABLE IF NOT EXISTS other (text text STORAGE EXTERNAL)');
  for (let written = 0; written < mebibytes; written += 1)
    await db.pool.query(`INSERT INTO other VALUES (repeat('x', $1))`, [MiB]);
}

const insert = ({ db }: App, ...keys: string[]): Promise<string[]> => insertRows(db.pool, rowsOf(...keys));

async function untilSaved(app: App, pipeline: Pipeline, count: number): Promise<void> {
  await app.untilHandled(count);
  await waitUntil('all is saved', () => pipeline.status().unsaved === 0);
}

const retentionOf = (pipeline: Pipeline): { heldBytes: number; yielded: boolean } => {
  const retention = pipeline.status().source?.retention;
  if (retention === undefined || retention === null) throw new Error('there is no retention');
  return retention;
};

const warnings = ({ log }: App): number => log.count('the log grows faster than retention may hold it');

describe('retention by age', () => {
  test('holds the slot back behind what is saved, says how much, and lets it follow when it is old enough', async () => {
    await using app = await App.create();
    const age = 3_000;
    const pipeline = await app.start({ retention: { age } });
    const first = await slotOf(app);
    await insert(app, 'a');
    await untilSaved(app, pipeline, 1);
    const savedAt = Date.now();
    await waitUntil('something is held', () => retentionOf(pipeline).heldBytes > 0);
    const settled = await slotOf(app);
    await waitUntil('the slot moves', async () => (await slotOf(app)).confirmed > first.confirmed);
    expect(Date.now() - savedAt).toBeGreaterThan(age - 500);
    await waitUntil(
      'it has passed what was settled',
      async () => (await slotOf(app)).confirmed >= settled.end,
    );
    expect(retentionOf(pipeline).yielded).toBe(false);
    expect(warnings(app)).toBe(0);
  });

  test('is nothing by default: the slot follows at once, and there is no such status', async () => {
    await using app = await App.create();
    const pipeline = await app.start();
    await insert(app, 'a');
    await untilSaved(app, pipeline, 1);
    const { end } = await slotOf(app);
    expect(pipeline.status().source?.retention).toBeNull();
    await waitUntil('the slot follows', async () => (await slotOf(app)).confirmed >= end);
  });
});

describe('retention by bytes', () => {
  // Bytes of its log are counted: nobody else writes it.
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ exclusive: true });
  });
  afterAll(() => server.stop());

  test('keeps as much as it may, and that is no reason to warn', async () => {
    await using app = await App.create(server.url);
    const bytes = 4 * MiB;
    const pipeline = await app.start({ retention: { bytes } });
    await insert(app, 'a');
    await untilSaved(app, pipeline, 1);
    await writeElsewhere(app, 10);
    await waitUntil('no more is held than may be', async () => {
      const { confirmed, end } = await slotOf(app);
      return end - confirmed <= bytes;
    });
    const { confirmed, end } = await slotOf(app);
    // As far as the watermarks that are remembered are apart: one comes with each keepalive.
    expect(end - confirmed).toBeLessThanOrEqual(bytes);
    expect(retentionOf(pipeline).yielded).toBe(false);
    expect(warnings(app)).toBe(0);
  });

  test('is the limit of the age: there it yields, says so once, and nothing is lost', async () => {
    await using app = await App.create(server.url);
    const bytes = 4 * MiB;
    const pipeline = await app.start({ retention: { bytes, age: HOUR } });
    const ids = await insert(app, 'a');
    await untilSaved(app, pipeline, 1);
    for (let round = 0; round < 3; round += 1) {
      await writeElsewhere(app, 5);
      ids.push(...(await insert(app, 'a')));
      await untilSaved(app, pipeline, ids.length);
      await waitUntil('no more is held than may be', async () => {
        const { confirmed, end } = await slotOf(app);
        return end - confirmed <= bytes;
      });
    }
    await waitUntil('it says so', () => retentionOf(pipeline).yielded);
    expect(warnings(app)).toBe(1);
    expect(app.ids).toEqual(ids);
  });

  test('an idle outbox does not hold the log beyond it, however much others write', async () => {
    await using app = await App.create(server.url);
    const bytes = 8 * MiB;
    await app.start({ retention: { bytes, age: HOUR } });
    await writeElsewhere(app, 40);
    for (let round = 0; round < 3; round += 1) {
      await writeElsewhere(app, 8);
      // A running system notes every few seconds from where it could decode again: so does a checkpoint.
      await app.db.pool.query('CHECKPOINT');
      await waitUntil('the slot has followed', async () => {
        const { confirmed, end } = await slotOf(app);
        return end - confirmed <= bytes;
      });
    }
    // That place follows in steps: it lags behind what is confirmed as far again, and a step.
    expect((await slotOf(app)).kept).toBeLessThanOrEqual(3 * bytes);
  });
});

describe("the server's own limit", () => {
  test('is kept from: retention yields long before the slot is lost, and the pipeline goes on', async () => {
    await using server = await startPostgres({
      exclusive: true,
      settings: {
        max_slot_wal_keep_size: '96MB',
        wal_keep_size: '0',
        max_wal_size: '64MB',
        min_wal_size: '32MB',
      },
    });
    await using app = await App.create(server.url);
    const pipeline = await app.start({ retention: { age: HOUR } });
    const ids = await insert(app, 'a');
    await untilSaved(app, pipeline, 1);
    for (let round = 0; round < 10; round += 1) {
      await writeElsewhere(app, 24);
      ids.push(...(await insert(app, 'a')));
      await untilSaved(app, pipeline, ids.length);
      await waitUntil('the slot has followed', async () => {
        const { confirmed, end } = await slotOf(app);
        return end - confirmed <= 32 * MiB;
      });
      await app.db.pool.query('CHECKPOINT');
    }
    expect(retentionOf(pipeline).yielded).toBe(true);
    expect(warnings(app)).toBe(1);
    const { rows } = await app.db.pool.query<{ status: string }>(
      'SELECT wal_status AS status FROM pg_replication_slots',
    );
    expect(rows[0]?.status).not.toBe('lost');
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });
});

describe('a restart', () => {
  test('delivers nothing again and loses nothing, and what was held stays held', async () => {
    await using app = await App.create();
    const options = { retention: { age: HOUR } };
    const first = await app.start(options);
    const start = await slotOf(app);
    const ids = await insert(app, 'a', 'b');
    await untilSaved(app, first, 2);
    await app.stop(first);
    expect((await slotOf(app)).confirmed).toBe(start.confirmed);
    ids.push(...(await insert(app, 'a', 'c')));
    for (let life = 0; life < 2; life += 1) {
      const next = await app.start(options);
      await untilSaved(app, next, ids.length);
      ids.push(...(await insert(app, 'b')));
      await untilSaved(app, next, ids.length);
      expect(app.ids).toEqual(ids);
      await waitUntil('all of it is held', () => retentionOf(next).heldBytes > 0);
      await app.stop(next);
      expect((await slotOf(app)).confirmed).toBe(start.confirmed);
    }
  });

  test('after kill -9 too: nothing is lost, nothing that was saved comes again, and the slot stands where it stood', async () => {
    await using outbox = await PostgresTestOutbox.create();
    const witness = await outbox.witness();
    const source = { retention: { age: HOUR } } as SourceTuning;
    await using runs = await PipelineRuns.prepare(outbox, { name: 'kept', source });
    const { history } = runs;
    const life = await runs.start();
    const start = await outbox.release.upTo();
    const ids = await outbox.insert(rowsInTurn(100, 10));
    await history.until('they are done', () => ids.every((id) => history.succeeded.has(id)));
    await life.untilStatus('all is saved', (status) => status.unsaved === 0);
    await life.kill();
    ids.push(...(await outbox.insert(rowsInTurn(100, 10))));
    await runs.start();
    await history.until('all are done', () => ids.every((id) => history.succeeded.has(id)));
    expect(outbox.check(await witness.events(), history)).toEqual(onceEach);
    expect(await outbox.release.upTo()).toBe(start);
  });

  test('without retention lets go of what was held', async () => {
    await using app = await App.create();
    const first = await app.start({ retention: { age: HOUR } });
    await insert(app, 'a');
    await untilSaved(app, first, 1);
    const { confirmed } = await slotOf(app);
    await app.stop(first);
    await app.start();
    await waitUntil('the slot follows', async () => (await slotOf(app)).confirmed > confirmed);
    expect(app.ids).toHaveLength(1);
  });

  test('over a broken connection goes on after what was handed over, and holds on', async () => {
    await using app = await App.create();
    const pipeline = await app.start({ retention: { age: HOUR } });
    const { confirmed } = await slotOf(app);
    const ids = await insert(app, 'a');
    await untilSaved(app, pipeline, 1);
    for (let round = 1; round <= 2; round += 1) {
      await app.db.pool.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'walsender'`,
      );
      ids.push(...(await insert(app, 'a')));
      await untilSaved(app, pipeline, ids.length);
    }
    expect(app.ids).toEqual(ids);
    expect((await slotOf(app)).confirmed).toBe(confirmed);
  });

  test('with a slot that was moved past the saved offset is refused, as without retention', async () => {
    await using app = await App.create();
    const options = { retention: { age: HOUR } };
    const first = await app.start(options);
    await insert(app, 'a');
    await untilSaved(app, first, 1);
    await app.stop(first);
    await insert(app, 'b');
    await app.sql(`SELECT pg_replication_slot_advance('${app.source.slot}', pg_current_wal_lsn())`);
    expect(await app.refusal(app.pipeline(options))).toMatchObject({ code: 'PG_SLOT_ADVANCED' });
  });
});
