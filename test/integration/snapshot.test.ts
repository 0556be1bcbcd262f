import {
  StrandlineError,
  type BookmarkStore,
  type InstanceRegister,
  type Offset,
  type OffsetStore,
} from '@strandline/core';
import {
  faultless,
  idsOf,
  insertRows,
  judge,
  MemoryHistory,
  OutboxWriters,
  PostgresOutboxSession,
  recorded,
  rowsInTurn,
  rowsOf,
  TestLog,
  waitUntil,
  watchFor,
  type CommittedEvent,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres, type OutboxEvent, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { App, changedUrl } from './source-app.js';

const inSnapshot = ({ position }: OutboxEvent): boolean => position.startsWith('snapshot:');

/** For transactions that were open before it. */
const SLOT_CREATION_WAITS = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
  AND query LIKE 'CREATE_REPLICATION_SLOT%' AND wait_event_type = 'Lock')`;

describe('the rows that are there, and then the stream', () => {
  test('have no gap and no overlap, whatever commits, rolls back or is open while the slot is made', async () => {
    await using app = await App.create();
    await insertRows(app.db.pool, rowsInTurn(2_500, 20));
    // Open while the slot is made, which waits for them; one of them wrote in a subtransaction.
    const early = await Promise.all([app.db.pool.connect(), app.db.pool.connect(), app.db.pool.connect()]);
    for (const [n, client] of early.entries()) {
      await client.query('BEGIN');
      await insertRows(client, rowsOf(`early${String(n)}`));
      if (n === 1) await client.query('SAVEPOINT inner_one');
      await insertRows(client, rowsOf(`early${String(n)}`));
    }
    await using writers = new OutboxWriters(() => PostgresOutboxSession.open(app.db.url), {
      writers: 6,
      keys: 20,
      linger: 5,
    });
    await waitUntil('the writers write', () => writers.committed > 50);

    const pipeline = app.pipeline({ start: 'snapshot' });
    const started = pipeline.start();
    await app.db.waitFor('slot creation waits', SLOT_CREATION_WAITS);
    for (const [n, client] of early.entries()) {
      await insertRows(client, rowsOf(`early${String(n)}`));
      await client.query(n === 2 ? 'ROLLBACK' : 'COMMIT');
      client.release();
    }
    await started;
    const before = writers.committed;
    await waitUntil('the writers write on', () => writers.committed > before + 300);
    await writers.stop();
    const { rows } = await app.db.pool.query<{ id: string }>('SELECT id FROM outbox ORDER BY id');
    await app.untilHandled(rows.length);
    await app.stop(pipeline);

    expect(app.ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(rows.map(({ id }) => id));
    expect(app.handled.filter(inSnapshot).length).toBeGreaterThanOrEqual(2_500);
    expect(app.handled.filter((event) => !inSnapshot(event)).length).toBeGreaterThanOrEqual(300);
    for (const key of new Set(app.handled.map((event) => event.key))) {
      const ofKey = app.handled.filter((event) => event.key === key);
      const firstStreamed = ofKey.findIndex((event) => !inSnapshot(event));
      if (firstStreamed >= 0) expect(ofKey.slice(firstStreamed).some(inSnapshot), key).toBe(false);
      const ids = ofKey.filter(inSnapshot).map(({ id }) => Number(id));
      expect(ids, key).toEqual(ids.toSorted((a, b) => a - b));
    }
  });

  test('of an empty table there are none, and nothing waits for them', async () => {
    await using app = await App.create();
    const pipeline = await app.start({ start: 'snapshot' });
    const ids = await insertRows(app.db.pool, rowsOf('a'));
    await app.untilHandled(1);
    expect(app.ids).toEqual(ids);
    expect(app.handled.some(inSnapshot)).toBe(false);
    await app.stop(pipeline);
  });

  test('hold the log until they are done: what commits meanwhile is delivered after a crash, too', async () => {
    await using app = await App.create();
    await insertRows(app.db.pool, rowsOf('slow'));
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const pipeline = await app.start(
      { start: 'snapshot' },
      { handle: ({ key }) => (key === 'slow' ? held : undefined) },
    );
    await insertRows(app.db.pool, rowsOf('a'));
    await app.untilHandled(1);
    await waitUntil('it is saved', () => app.storage.get('app')?.completed.length);
    await watchFor(300, 'the slot stays where the snapshot was taken', async () => {
      const { rows } = await app.db.pool.query<{ behind: boolean }>(
        'SELECT confirmed_flush_lsn <= $1::pg_lsn AS behind FROM pg_replication_slots WHERE slot_name = $2',
        [app.storage.get('app')?.identity['snapshotLsn'], app.source.slot],
      );
      return rows[0]?.behind === true;
    });
    release();
    await app.untilHandled(2);
    await app.stop(pipeline);
  });

  test('are read, and a large transaction behind them, whatever limits the database sets for a transaction', async () => {
    await using app = await App.create();
    // transaction_timeout came with version 17.
    await app.sql(`DO $$ BEGIN IF current_setting('server_version_num')::int >= 170000 THEN
      EXECUTE format('ALTER DATABASE %I SET transaction_timeout = ''200ms''', current_database()); END IF; END $$`);
    await app.sql(`ALTER DATABASE ${app.db.name} SET idle_in_transaction_session_timeout = '200ms'`);
    await insertRows(app.db.pool, rowsInTurn(1_500, 20));
    await app.sql(`ALTER DATABASE ${app.db.name} SET lock_timeout = '50ms'`);
    const open = await app.db.pool.connect();
    await open.query('BEGIN');
    await insertRows(open, rowsOf('k0'));
    // Snapshot and transaction take a second each at this pace, and the latter is more than buffers hold.
    const pipeline = app.pipeline(
      { start: 'snapshot' },
      { window: { events: 50 }, handle: () => new Promise((resolve) => setTimeout(resolve, 20)) },
    );
    const started = pipeline.start();
    await app.db.waitFor('slot creation waits', SLOT_CREATION_WAITS);
    await watchFor(200, 'it goes on waiting', async () => {
      const { rows } = await app.db.pool.query<{ exists: boolean }>(SLOT_CREATION_WAITS);
      return rows[0]?.exists === true;
    });
    await open.query('COMMIT');
    open.release();
    await started;
    await insertRows(
      app.db.pool,
      rowsInTurn(6_000, 2_000).map(({ key }) => ({ key, payload: 'x'.repeat(5_000) })),
    );
    await app.untilHandled(2_500);
    expect(pipeline.status()).toMatchObject({ state: 'running', source: { reconnects: 0 } });
    await app.stop(pipeline);
  });

  test('are read on after the connection broke, each once', async () => {
    await using app = await App.create();
    const ids = await insertRows(app.db.pool, rowsInTurn(4_000, 40));
    let isCut = false;
    const pipeline = await app.start(
      { start: 'snapshot' },
      {
        window: { events: 500 },
        handle: async () => {
          if (isCut || app.handled.length < 1_200) return;
          isCut = true;
          await app.sql(
            `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE 'strandline/%'`,
          );
          await app.sql(
            `INSERT INTO outbox (key) VALUES ('new'); UPDATE outbox SET payload = 'changed' WHERE id % 7 = 0`,
          );
        },
      },
    );
    await app.untilHandled(4_001);
    await app.stop(pipeline);
    expect(app.ids.length).toBe(4_001);
    expect(app.ids.toSorted((a, b) => Number(a) - Number(b)).slice(0, 4_000)).toEqual(ids);
    expect(app.log.has('connecting again')).toBe(true);
  });
});

/** Offsets that a crash leaves as they are: nothing is saved any more once the process is dead. */
class CrashingOffsets implements OffsetStore {
  readonly name = 'memory';
  readonly bookmarks: BookmarkStore;
  readonly instances: InstanceRegister;
  readonly controls: OffsetStore['controls'];
  dead = false;
  readonly #store: OffsetStore;
  readonly #claiming: (n: number, claim: () => Promise<Offset>) => Promise<Offset>;
  #claims = 0;

  constructor(
    readonly storage: Map<string, Offset>,
    claiming: (n: number, claim: () => Promise<Offset>) => Promise<Offset> = (_, claim) => claim(),
  ) {
    this.#store = memoryOffsets({ storage });
    this.bookmarks = this.#store.bookmarks;
    this.instances = this.#store.instances;
    this.controls = this.#store.controls;
    this.#claiming = claiming;
  }

  load(pipeline: string): Promise<Offset | null> {
    return this.#store.load(pipeline);
  }

  claim(pipeline: string, seed: Parameters<OffsetStore['claim']>[1]): Promise<Offset> {
    this.#claims += 1;
    return this.#claiming(this.#claims, () => this.#store.claim(pipeline, seed));
  }

  commit(pipeline: string, offset: Offset): ReturnType<OffsetStore['commit']> {
    if (!this.dead) return this.#store.commit(pipeline, offset);
    return Promise.reject(
      new StrandlineError('OFFSETS_UNAVAILABLE', 'The process is dead.', 'None.', { transient: true }),
    );
  }

  replace(...given: Parameters<OffsetStore['replace']>): ReturnType<OffsetStore['replace']> {
    return this.#store.replace(...given);
  }

  replaced(pipeline: string): ReturnType<OffsetStore['replaced']> {
    return this.#store.replaced(pipeline);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** More than the keys whose handlers are held. */
const CONCURRENCY = 16;

/** Lives of a process over one outbox; each may end in a crash. */
class Lives implements AsyncDisposable {
  readonly history = new MemoryHistory();
  readonly log = new TestLog();
  readonly positions = new Map<string, string>();
  readonly #pipelines: Pipeline[] = [];
  #run = 0;

  constructor(
    readonly app: App,
    readonly options: Partial<Parameters<typeof postgres>[0]> = {},
  ) {}

  /** @param held keys whose handlers wait until the process dies */
  async live(
    held: readonly string[],
    window = 10_000,
  ): Promise<{ pipeline: Pipeline; crash: () => Promise<void> }> {
    this.#run += 1;
    const run = this.#run;
    const offsets = new CrashingOffsets(this.app.storage);
    const pipeline = definePipeline({
      name: 'app',
      source: postgres({ ...this.app.source, start: 'snapshot', ...this.options }),
      offsets,
      commitInterval: 10,
      concurrency: CONCURRENCY,
      window: { events: window },
      drainTimeout: 0,
      log: this.log,
      handle: (event, { attempt, signal }) =>
        recorded(this.history.record, { run, attempt, events: [event] }, async () => {
          this.positions.set(event.id, event.position);
          if (!held.includes(event.key)) return;
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reject(new Error('the process is dead'));
            });
          });
        }),
    });
    pipeline.finished.catch(() => undefined);
    this.#pipelines.push(pipeline);
    await pipeline.start();
    return {
      pipeline,
      crash: async () => {
        offsets.dead = true;
        await pipeline.stop();
      },
    };
  }

  /** What committed, for the check: each event has to lie where it was first seen. */
  committed(rows: readonly { readonly id: string; readonly key: string }[]): CommittedEvent[] {
    return rows.map(({ id, key }) => ({ id, key, position: this.positions.get(id) ?? 'never seen' }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pipelines.map((pipeline) => pipeline.stop()));
  }

  get saved(): Offset {
    return this.app.storage.get('app') ?? expect.fail('nothing is saved');
  }
}

describe('a crash in the middle of the snapshot', () => {
  test('with rows inserted, updated and deleted since, and a slow key that holds the watermark: three times', async () => {
    await using app = await App.create();
    await app.sql(
      `INSERT INTO outbox (id, key) SELECT n * 10, 'k' || n % 30 FROM generate_series(1, 3000) n`,
    );
    await app.sql(`UPDATE outbox SET key = 'slow' WHERE id IN (50, 60)`);
    const { rows: original } = await app.db.pool.query<{ id: string; key: string }>(
      'SELECT id, key FROM outbox ORDER BY id',
    );
    const added: { id: string; key: string }[] = [];
    const add = async (id: number | null, key: string): Promise<void> => {
      const { rows } = await app.db.pool.query<{ id: string; key: string }>(
        `INSERT INTO outbox (id, key) VALUES (coalesce($1, 40000 + nextval('outbox_id_seq')), $2) RETURNING id, key`,
        [id, key],
      );
      added.push(...rows);
    };
    await using lives = new Lives(app);
    const { history } = lives;
    /** Removes rows, but not those whose handler was cut short: what becomes of those is to be seen. */
    const remove = async (condition: string): Promise<void> => {
      const cutShort = history.ids('started').filter((id) => !history.succeeded.has(id));
      await app.db.pool.query(`DELETE FROM outbox WHERE ${condition} AND id <> ALL ($1::bigint[])`, [
        cutShort,
      ]);
    };

    // Life 1 stalls after some 1,800 of the rows, in the second fetch of them, and dies.
    const heldKeys = ['slow', ...Array.from({ length: 10 }, (_, n) => `k${String(n + 10)}`)];
    const first = await lives.live(heldKeys, 600);
    await waitUntil('its window is full', () => first.pipeline.status().paused === 'window');
    await history.until('the rest has succeeded', () => history.succeeded.size >= 1_000);
    await waitUntil('what succeeded is saved', () => first.pipeline.status().unsaved === 0);
    const keysDone = new Set(history.ids('succeeded'));
    await first.crash();
    expect(lives.saved.watermark).toBe('snapshot:["40"]');
    expect(lives.saved.completed.length).toBeGreaterThan(20);

    // Meanwhile: rows with ids behind, inside and ahead of what was read; changed rows, so that they look new; and
    // rows that are gone, handled and not handled.
    for (const [id, key] of [
      [11, 'k1'],
      [14_005, 'k15'],
      [29_999, 'k25'],
      [null, 'k5'],
      [null, 'slow'],
    ] as const)
      await add(id, key);
    await app.sql(`UPDATE outbox SET payload = 'changed' WHERE id % 40 = 0`);
    await app.sql(`UPDATE outbox SET payload = 'changed since' WHERE id = 14005`);
    await remove('id % 170 = 0');
    // The ends of settled runs are among the rows that are gone.
    const ends = lives.saved.completed.slice(0, 40).flatMap(({ first, last }) => [first, last]);
    const endIds = ends.flatMap((end) =>
      end.startsWith('snapshot:') ? (JSON.parse(end.slice(9)) as string[]) : [],
    );
    await remove(`id IN (${endIds.filter((_, n) => n % 3 === 0).join(', ')})`);

    // Life 2 dies in the first tenth of them: what it saved has the settled runs that it did not come to.
    const brief = await lives.live(
      heldKeys.filter((key) => key !== 'k10'),
      100,
    );
    await history.until('something new has settled', () => history.ids('succeeded', 2).length > 0);
    await waitUntil('it is saved', () => brief.pipeline.status().unsaved === 0);
    await brief.crash();

    // Life 3 dies as well, with the slow key still holding everything.
    const second = await lives.live(['slow']);
    await add(null, 'k7');
    await history.until('the stream has been reached', () => history.succeeded.has(added.at(-1)?.id ?? ''));
    await waitUntil('what succeeded is saved', () => second.pipeline.status().unsaved === 0);
    await second.crash();
    expect(lives.saved.watermark).toBe('snapshot:["40"]');
    await add(45, 'k12');
    await add(null, 'k12');
    await app.sql(`UPDATE outbox SET payload = 'again' WHERE id % 30 = 0`);
    await remove('id % 230 = 0');

    const third = await lives.live([]);
    const { rows: left } = await app.db.pool.query<{ id: string }>('SELECT id FROM outbox');
    await history.until('everything has succeeded', () => left.every(({ id }) => history.succeeded.has(id)));
    await waitUntil(
      'the snapshot is over',
      () => !third.pipeline.status().watermark?.startsWith('snapshot:'),
    );
    await third.pipeline.stop();

    // Rows that were gone before they were handled are not there to be handled.
    const isGone = new Set(original.map(({ id }) => id));
    for (const { id } of left) isGone.delete(id);
    const expected = [...original, ...added].filter(({ id }) => !isGone.has(id) || history.succeeded.has(id));
    const { duplicates, ...rest } = judge(lives.committed(expected), history.entries);
    expect(rest).toMatchObject(faultless);
    // Only what was in a handler when the process died: the slow head, and the heads of the ten held keys.
    expect(duplicates.length).toBeLessThanOrEqual(2 * CONCURRENCY);
    expect(idsOf(duplicates).filter((id) => keysDone.has(id))).toEqual([]);
    // What was inserted since came once, and from the stream.
    for (const { id } of added) {
      expect(history.ids('succeeded').filter((succeeded) => succeeded === id)).toHaveLength(1);
      expect(lives.positions.get(id)).not.toMatch(/^snapshot:/);
    }
  });

  test('between the first claim and the slot: everything is delivered, what was inserted meanwhile too', async () => {
    await using app = await App.create();
    const ids = await insertRows(app.db.pool, rowsOf('a', 'b'));
    const offsets = new CrashingOffsets(app.storage, async (n, claim) => {
      const offset = await claim();
      if (n === 1) throw new Error('killed');
      return offset;
    });
    await expect(crashing(app, offsets).start()).rejects.toMatchObject({ cause: { message: 'killed' } });
    expect(app.storage.get('app')?.watermark).toBe('snapshot:start');
    expect(await app.hasSlot()).toBe(false);
    ids.push(...(await insertRows(app.db.pool, rowsOf('c'))));
    const pipeline = await app.start({ start: 'snapshot' });
    ids.push(...(await insertRows(app.db.pool, rowsOf('d'))));
    await app.untilHandled(4);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });

  test('between the slot and the second claim: the slot is made anew, with a snapshot of its own', async () => {
    await using app = await App.create();
    const ids = await insertRows(app.db.pool, rowsOf('a', 'b'));
    const offsets = new CrashingOffsets(app.storage, (n, claim) =>
      n === 2 ? Promise.reject(new Error('killed')) : claim(),
    );
    await expect(crashing(app, offsets).start()).rejects.toMatchObject({ cause: { message: 'killed' } });
    expect(await app.hasSlot()).toBe(true);
    ids.push(...(await insertRows(app.db.pool, rowsOf('c'))));
    const pipeline = await app.start({ start: 'snapshot' });
    ids.push(...(await insertRows(app.db.pool, rowsOf('d'))));
    await app.untilHandled(4);
    expect(app.ids).toEqual(ids);
    expect(app.handled.filter(inSnapshot).map(({ id }) => id)).toEqual(ids.slice(0, 3));
    await app.stop(pipeline);
  });

  test('between the second claim and the first row: it is read on, and rows inserted meanwhile come once', async () => {
    await using app = await App.create();
    const ids = await insertRows(app.db.pool, rowsOf('a', 'b'));
    const offsets = new CrashingOffsets(app.storage, async (n, claim) => {
      const offset = await claim();
      if (n === 2) throw new Error('killed');
      return offset;
    });
    await expect(crashing(app, offsets).start()).rejects.toMatchObject({ cause: { message: 'killed' } });
    ids.push(...(await insertRows(app.db.pool, rowsOf('c'))));
    const pipeline = await app.start({ start: 'snapshot' });
    ids.push(...(await insertRows(app.db.pool, rowsOf('d'))));
    await app.untilHandled(4);
    expect(app.ids).toEqual(ids);
    expect(app.handled.filter(inSnapshot).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    await app.stop(pipeline);
  });

  test('in an order with many equals, and not by the id', async () => {
    await using app = await App.create();
    // Newest ids first, a hundred rows at each time, times with microseconds.
    await app.sql(
      `INSERT INTO outbox (id, key, created_at)
       SELECT 5001 - n, 'k' || n % 7, timestamptz '2026-01-01 00:00:00.000001+00' + (n / 100) * interval '1 microsecond'
       FROM generate_series(1, 2500) n`,
    );
    const { rows } = await app.db.pool.query<{ id: string; key: string }>(
      'SELECT id, key FROM outbox ORDER BY created_at, id',
    );
    await using lives = new Lives(app, { outbox: { ...app.source.outbox, snapshotOrder: ['created_at'] } });
    const { history } = lives;
    const first = await lives.live(['k3']);
    await history.until('some have succeeded', () => history.succeeded.size >= 700);
    await waitUntil('what succeeded is saved', () => first.pipeline.status().unsaved === 0);
    await first.crash();
    const second = await lives.live([]);
    await history.untilSucceeded(2_500);
    await second.pipeline.stop();
    const { duplicates, ...rest } = judge(lives.committed(rows), history.entries);
    expect(rest).toMatchObject(faultless);
    expect(duplicates.length).toBeLessThanOrEqual(CONCURRENCY);
  });

  function crashing(app: App, offsets: OffsetStore): Pipeline {
    return definePipeline({
      name: 'app',
      source: postgres({ ...app.source, start: 'snapshot' }),
      offsets,
      log: app.log,
      handle: () => undefined,
    });
  }
});

describe('several processes that start for the first time at once', () => {
  test('take one snapshot between them: each row is handled once, and one of them owns', async () => {
    await using app = await App.create();
    const ids = await insertRows(app.db.pool, rowsInTurn(1_500, 30));
    const pipelines = [1, 2, 3, 4].map(() => app.pipeline({ start: 'snapshot' }));
    await Promise.all(pipelines.map((pipeline) => pipeline.start()));
    ids.push(...(await insertRows(app.db.pool, rowsInTurn(100, 30))));
    await app.untilHandled(1_600);
    expect(pipelines.map((pipeline) => pipeline.status().state).toSorted()).toEqual([
      'running',
      'standby',
      'standby',
      'standby',
    ]);
    for (const pipeline of pipelines) await app.stop(pipeline);
    expect(app.ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect(app.log.has('lost the ownership')).toBe(false);
  });
});

describe('the order in which the rows are read', () => {
  test('is that of the number in the id, not of its text', async () => {
    await using app = await App.create();
    await app.sql(`INSERT INTO outbox (id, key) VALUES (10, 'k'), (9, 'k'), (100, 'k'), (-1, 'k')`);
    const pipeline = await app.start({ start: 'snapshot' });
    await app.untilHandled(4);
    expect(app.ids).toEqual(['-1', '9', '10', '100']);
    await app.stop(pipeline);
  });

  test.each(['uuid', 'text', 'numeric'])(
    'of an id of type %s has to be named, before there is a slot',
    async (type) => {
      await using app = await App.withTables(
        `CREATE TABLE outbox (id ${type} PRIMARY KEY, key text, payload text, at timestamptz, n int)`,
      );
      await app.sql(
        `INSERT INTO outbox VALUES (${type === 'uuid' ? 'gen_random_uuid()' : `'7'`}, 'b', '', '2026-01-02', 1)`,
      );
      await app.sql(
        `INSERT INTO outbox VALUES (${type === 'uuid' ? 'gen_random_uuid()' : `'8'`}, 'a', '', '2026-01-01', 1)`,
      );
      const refused = await app.refusal(app.pipeline({ start: 'snapshot' }));
      expect(refused).toMatchObject({ code: 'PG_SNAPSHOT_ORDER' });
      expect(refused.message).toContain(`The id id of public.outbox is of type ${type}`);
      expect(await app.hasSlot()).toBe(false);
      const outbox = { ...app.source.outbox, snapshotOrder: ['n', 'at'] };
      const pipeline = await app.start({ start: 'snapshot', outbox });
      await app.untilHandled(2);
      expect(app.handled.map(({ key }) => key)).toEqual(['a', 'b']);
      await app.stop(pipeline);
    },
  );

  test('by a column that does not exist is refused, before there is a slot', async () => {
    await using app = await App.create();
    const outbox = { ...app.source.outbox, snapshotOrder: ['createdAt'] };
    const refused = await app.refusal(app.pipeline({ start: 'snapshot', outbox }));
    expect(refused).toMatchObject({ code: 'PG_SNAPSHOT_ORDER' });
    expect(refused.message).toMatch(/"createdAt".*created_at/);
    expect(await app.hasSlot()).toBe(false);
  });

  test('by a column with NULL stops there; by another one it is read on', async () => {
    await using app = await App.create();
    await app.sql('ALTER TABLE outbox ALTER created_at DROP NOT NULL');
    const ids = await insertRows(app.db.pool, rowsOf('a', 'b'));
    await app.sql(`INSERT INTO outbox (key, created_at) VALUES ('c', NULL)`);
    const outbox = { ...app.source.outbox, snapshotOrder: ['created_at'] };
    const failed = await app.failure(await app.start({ start: 'snapshot', outbox }));
    expect(failed).toMatchObject({ code: 'PG_SNAPSHOT_ORDER' });
    expect(failed.message).toMatch(/NULL in one of the columns created_at, id/);
    await app.sql('UPDATE outbox SET created_at = now() WHERE created_at IS NULL');
    const pipeline = await app.start({ start: 'snapshot', outbox });
    await waitUntil('all are handled', () => new Set(app.ids).size === 3);
    expect(app.ids.slice(-3)).toEqual([...ids, '3']);
    await app.stop(pipeline);
  });
});

describe('texts are the same in the snapshot and in the stream', () => {
  /** A type with a value of it. */
  const values: Readonly<Record<string, string>> = {
    bool: 'true',
    'char(5)': `'ab'`,
    varchar: `'  padded '`,
    text: `E'\\uFEFFtext\\t\\n"\\'\\\\'`,
    name: `'some name'`,
    int2: '-32768',
    int8: '9007199254740993',
    numeric: `'1.10'`,
    'numeric(30,5)': `'123456789012345678901234.50000'`,
    float4: '0.1',
    float8: '0.1::float8 + 0.2::float8',
    timestamptz: `'2026-03-29 01:30:00.123456+00'`,
    timestamp: `'2026-03-04 05:06:07.000001'`,
    date: `'2026-03-04'`,
    time: `'23:59:59.999999'`,
    timetz: `'04:05:06.789-08'`,
    interval: `'1 year 2 months -3 days 04:05:06.789'`,
    bytea: `'\\x00ff5c27'::bytea`,
    uuid: `'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`,
    json: `'{"b":1,  "a":[1.10]}'`,
    jsonb: `'{"b":1,  "a":[1.10]}'`,
    money: `'1234.5'`,
    'text[]': `ARRAY['a,b', NULL, '"', '']`,
    'timestamptz[]': `ARRAY['2026-03-29 01:30:00+00'::timestamptz]`,
    int4range: `'[1,5)'`,
    tstzrange: `'[2026-01-01 00:00+00, 2026-01-02 00:00+00)'`,
    inet: `'192.168.0.1/24'`,
    macaddr: `'08:00:2b:01:02:03'`,
    'bit(3)': `B'101'`,
    varbit: `B'1'`,
    point: `'(0.1, 0.30000000000000004)'`,
    xml: `'<a>ü</a>'`,
    oid: '4294967295',
    mood: `'so so'`,
    email: `'A@B'`,
    pair: `ROW('2026-01-01 00:00+00'::timestamptz, '\\x5c'::bytea)`,
  };
  const columns = Object.keys(values).map((_, n) => `c${String(n)}`);

  test.each([
    ['as the server has it', []],
    [
      'under odd settings of the database',
      [
        `datestyle = 'German, DMY'`,
        `timezone = 'Asia/Kathmandu'`,
        'bytea_output = escape',
        'extra_float_digits = -3',
        `intervalstyle = 'sql_standard'`,
        'xmlbinary = hex',
        'row_security = off',
        'standard_conforming_strings = off',
        `search_path = 'elsewhere'`,
        'quote_all_identifiers = on',
        `client_encoding = 'LATIN1'`,
        `default_transaction_isolation = serializable`,
        `statement_timeout = 1`,
        'idle_in_transaction_session_timeout = 1',
        'lock_timeout = 1',
      ],
    ],
  ])('%s: for every type, in keys of one column or many, in ids and payloads', async (_, settings) => {
    const types = Object.keys(values).map((type, n) => `${columns[n] ?? ''} ${type}`);
    await using app = await App.withTables(`
      CREATE TYPE mood AS ENUM ('so so');
      CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
      CREATE TYPE pair AS (at timestamptz, raw bytea);
      CREATE TABLE public.outbox (id bigint GENERATED ALWAYS AS IDENTITY, ${types.join(', ')})`);
    for (const setting of settings) await app.sql(`ALTER DATABASE ${app.db.name} SET ${setting}`);
    const insert = `INSERT INTO public.outbox (${columns.join(', ')}) VALUES (${Object.values(values).join(', ')})`;
    // This session is older than the settings.
    await app.sql(insert);
    const outbox = {
      table: 'public.outbox',
      id: 'id',
      key: columns.slice(0, 32),
      payload: columns[17] ?? '',
      columns,
    };
    const pipeline = await app.start({ start: 'snapshot', outbox });
    await app.sql(insert);
    await app.untilHandled(2);
    await app.stop(pipeline);
    const [fromSnapshot, fromStream] = app.handled;
    expect(fromSnapshot?.position).toMatch(/^snapshot:/);
    expect(fromStream?.position).not.toMatch(/^snapshot:/);
    const named = (event: OutboxEvent | undefined): unknown =>
      Object.fromEntries(Object.keys(values).map((type, n) => [type, event?.columns[columns[n] ?? '']]));
    expect(named(fromSnapshot)).toEqual(named(fromStream));
    expect(fromSnapshot?.key).toBe(fromStream?.key);
    expect(fromSnapshot?.payloadText).toBe(fromStream?.payloadText);
    expect(fromStream?.payload).toEqual(Buffer.from([0, 255, 0x5c, 0x27]));
    // And they are what they were, to the last digit.
    expect(named(fromStream)).toMatchObject({
      bool: 't',
      'char(5)': 'ab   ',
      varchar: '  padded ',
      text: '\ufefftext\t\n"\'\\',
      int8: '9007199254740993',
      numeric: '1.10',
      'numeric(30,5)': '123456789012345678901234.50000',
      float4: '0.1',
      float8: '0.30000000000000004',
      timestamptz: '2026-03-29 01:30:00.123456+00',
      timestamp: '2026-03-04 05:06:07.000001',
      date: '2026-03-04',
      interval: '1 year 2 mons -3 days +04:05:06.789',
      bytea: '\\x00ff5c27',
      json: '{"b":1,  "a":[1.10]}',
      jsonb: '{"a": [1.10], "b": 1}',
      oid: '4294967295',
      xml: '<a>ü</a>',
    });
  });

  test('the same for a role with settings of its own', async () => {
    await using app = await App.create();
    const role = `${app.db.name}_role`;
    await app.sql(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'of-the-role'`);
    try {
      await app.sql(
        `ALTER ROLE ${role} SET timezone = 'America/St_Johns'; ALTER ROLE ${role} SET datestyle = 'SQL, MDY'`,
      );
      const url = changedUrl(app.db.url, { username: role, password: 'of-the-role' });
      const outbox = { ...app.source.outbox, key: 'created_at' };
      await app.sql(`INSERT INTO outbox (key, created_at) VALUES ('', '2026-01-01 00:00:00.1+00')`);
      const pipeline = await app.start({ start: 'snapshot', url, outbox });
      await app.sql(`INSERT INTO outbox (key, created_at) VALUES ('', '2026-01-01 00:00:00.1+00')`);
      await app.untilHandled(2);
      expect(app.handled.map(({ key }) => key)).toEqual([
        '2026-01-01 00:00:00.1+00',
        '2026-01-01 00:00:00.1+00',
      ]);
      await app.stop(pipeline);
    } finally {
      await app.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});
