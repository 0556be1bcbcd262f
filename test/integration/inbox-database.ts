import type { HandlerContext, Logger, OutboxEvent } from '@strandline/core';
import { batchInbox, inbox, type InboxOptions } from '@strandline/inbox';
import { testDatabase, testMysqlDatabase, waitUntil, type DatabaseKind } from '@strandline/test-kit';
import mysql from 'mysql2/promise';
import pg from 'pg';

export type Handle = (event: OutboxEvent, ctx: HandlerContext) => Promise<void>;
export type BatchHandle = (events: readonly OutboxEvent[], ctx: HandlerContext) => Promise<void>;

/** The connection of an effect, whatever the database: statements with `?` for values. */
export interface Tx {
  run(sql: string, values?: readonly unknown[]): Promise<unknown>;
  /** The number by which the server knows the connection. */
  session(): Promise<number>;
  /** The library's own. */
  readonly raw: pg.PoolClient | mysql.PoolConnection;
}

export type TestEffect = (tx: Tx, event: OutboxEvent, ctx: HandlerContext) => unknown;
export type TestBatchEffect = (tx: Tx, events: readonly OutboxEvent[], ctx: HandlerContext) => unknown;

interface Pooled {
  readonly pool: pg.Pool | mysql.Pool;
  end(): Promise<void>;
}

/** A database whose table `counters` the effects of a test change. */
export abstract class InboxDatabase implements AsyncDisposable {
  static async create(kind: DatabaseKind): Promise<InboxDatabase> {
    const database =
      kind === 'postgres'
        ? new PostgresInboxDatabase(await testDatabase())
        : new MysqlInboxDatabase(await testMysqlDatabase(kind), kind);
    await database.run('CREATE TABLE counters (k VARCHAR(64) PRIMARY KEY, n INT NOT NULL)');
    return database;
  }

  readonly #pools: Pooled[] = [];

  protected constructor(readonly kind: DatabaseKind) {}

  /** Of the database, as a superuser. */
  abstract readonly url: string;
  abstract run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  protected abstract connect(max: number, url: string): Pooled;
  abstract wrap(raw: pg.PoolClient | mysql.PoolConnection): Tx;
  /** How many sessions wait for a lock of another one. */
  abstract waiting(): Promise<number>;
  abstract endSession(session: number): Promise<void>;
  /** What tells a used connection from a fresh one. */
  abstract traces(tx: Tx): Promise<unknown>;
  /** Makes a user who may use the database, and make nothing in it; resolves with its connection string. */
  abstract poorUser(): Promise<string>;

  get isPostgres(): boolean {
    return this.kind === 'postgres';
  }

  /** An inbox with a pool of its own, as a process of its own has. */
  handler(effect: TestEffect, options: InboxOptions = {}, { max = 5, url = this.url } = {}): Handle {
    return this.handlerOn(this.open(max, url).pool, effect, options);
  }

  handlerOn(pool: pg.Pool | mysql.Pool, effect: TestEffect, options: InboxOptions = {}): Handle {
    return pool instanceof pg.Pool
      ? inbox(pool, (tx, event, ctx) => effect(this.wrap(tx), event, ctx), options)
      : inbox(pool, (tx, event, ctx) => effect(this.wrap(tx), event, ctx), options);
  }

  batchHandler(effect: TestBatchEffect, options: InboxOptions = {}): BatchHandle {
    const { pool } = this.open(5, this.url);
    return pool instanceof pg.Pool
      ? batchInbox(pool, (tx, events, ctx) => effect(this.wrap(tx), events, ctx), options)
      : batchInbox(pool, (tx, events, ctx) => effect(this.wrap(tx), events, ctx), options);
  }

  /** A pool that ends with the test. */
  open(max: number, url = this.url): Pooled {
    const pooled = this.connect(max, url);
    this.#pools.push(pooled);
    return pooled;
  }

  async counter(key: string): Promise<number> {
    const [row] = await this.run('SELECT n FROM counters WHERE k = ?', [key]);
    return Number(row?.['n'] ?? 0);
  }

  async records(table = 'strandline_inbox'): Promise<number> {
    const [row] = await this.run(`SELECT COUNT(*) AS n FROM ${table}`);
    return Number(row?.['n']);
  }

  async untilWaiting(): Promise<void> {
    const isWaiting = async (): Promise<boolean> => (await this.waiting()) > 0;
    // MySQL shows the same list again to who asks more often than every 100 ms.
    await waitUntil('a session waits for the lock of another one', isWaiting, { everyMs: 150 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pooled of this.#pools) await pooled.end();
    await this.drop();
  }

  protected abstract drop(): Promise<void>;
}

/** One more for the key of an event. */
export function increment(isPostgres: boolean): TestEffect {
  const clash = isPostgres
    ? 'ON CONFLICT (k) DO UPDATE SET n = counters.n + 1'
    : 'ON DUPLICATE KEY UPDATE n = n + 1';
  return (tx, { key }) => tx.run(`INSERT INTO counters (k, n) VALUES (?, 1) ${clash}`, [key]);
}

class PostgresInboxDatabase extends InboxDatabase {
  readonly #db: Awaited<ReturnType<typeof testDatabase>>;

  constructor(db: Awaited<ReturnType<typeof testDatabase>>) {
    super('postgres');
    this.#db = db;
  }

  get url(): string {
    return this.#db.url;
  }

  async run(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#db.pool.query<Record<string, unknown>>(numbered(sql), [...values])).rows;
  }

  protected connect(max: number, url: string): Pooled {
    const pool = new pg.Pool({ connectionString: url, max });
    pool.on('error', () => undefined);
    return { pool, end: () => pool.end() };
  }

  wrap(raw: pg.PoolClient): Tx {
    return {
      raw,
      run: (sql, values = []) => raw.query(numbered(sql), [...values]),
      session: async () =>
        Number((await raw.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid),
    };
  }

  async waiting(): Promise<number> {
    const [row] = await this.run(
      `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return Number(row?.['n']);
  }

  async endSession(session: number): Promise<void> {
    await this.run('SELECT pg_terminate_backend(?)', [session]);
  }

  traces({ raw }: Tx): Promise<unknown> {
    return Promise.resolve((raw as pg.PoolClient).getTransactionStatus());
  }

  async poorUser(): Promise<string> {
    const name = `${this.#db.name}_poor`;
    await this.run(`CREATE ROLE ${name} LOGIN PASSWORD 'poor'`);
    await this.run('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    const url = new URL(this.url);
    [url.username, url.password] = [name, 'poor'];
    return url.href;
  }

  protected async drop(): Promise<void> {
    await this.run(`DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${this.#db.name}_poor') THEN
      DROP OWNED BY ${this.#db.name}_poor; DROP ROLE ${this.#db.name}_poor; END IF; END $$`);
    await this.#db[Symbol.asyncDispose]();
  }
}

class MysqlInboxDatabase extends InboxDatabase {
  readonly #db: Awaited<ReturnType<typeof testMysqlDatabase>>;

  constructor(db: Awaited<ReturnType<typeof testMysqlDatabase>>, kind: DatabaseKind) {
    super(kind);
    this.#db = db;
  }

  get url(): string {
    return this.#db.url;
  }

  async run(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const [rows] = await this.#db.pool.query(sql, [...values]);
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  }

  protected connect(max: number, url: string): Pooled {
    const pool = mysql.createPool({ uri: url, connectionLimit: max });
    return { pool, end: () => pool.end() };
  }

  wrap(raw: mysql.PoolConnection): Tx {
    return {
      raw,
      run: (sql, values = []) => raw.query(sql, [...values]),
      session: () => Promise.resolve(raw.threadId),
    };
  }

  async waiting(): Promise<number> {
    const [row] = await this.run(
      `SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p
        ON p.ID = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.DB = DATABASE()`,
    );
    return Number(row?.['n']);
  }

  async endSession(session: number): Promise<void> {
    await this.run('KILL ?', [session]);
  }

  async traces({ raw }: Tx): Promise<unknown> {
    const [rows] = await (raw as mysql.PoolConnection).query<mysql.RowDataPacket[]>(
      `SELECT @@autocommit AS autocommit, @strandline_autocommit AS saved,
        (SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = CONNECTION_ID()) AS open`,
    );
    return { ...rows[0] };
  }

  async poorUser(): Promise<string> {
    const name = `${this.#db.name}_p`;
    await this.run(`CREATE USER ${name} IDENTIFIED BY 'poor'`);
    await this.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${this.#db.name}.* TO ${name}`);
    const url = new URL(this.url);
    [url.username, url.password] = [name, 'poor'];
    return url.href;
  }

  protected async drop(): Promise<void> {
    await this.run(`DROP USER IF EXISTS ${this.#db.name}_p`);
    await this.#db[Symbol.asyncDispose]();
  }
}

/** `?` as Postgres numbers them. */
function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll('?', () => `$${String((n += 1))}`);
}

export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

/** What a pipeline gives a handler. */
export function context(given: Partial<HandlerContext> = {}): HandlerContext {
  return {
    pipeline: 'shop',
    replay: false,
    signal: new AbortController().signal,
    attempt: 1,
    log: silent,
    idempotencyKey: 'shop/public.outbox/1',
    idempotencyKeyOf: ({ table, id }) => `shop/${table}/${id}`,
    settledBefore: null,
    retryAfter: () => undefined,
    ...given,
  };
}

export function outboxEvent(id: string, given: Partial<OutboxEvent> = {}): OutboxEvent {
  return {
    id,
    key: 'k',
    type: null,
    payload: null,
    payloadText: null,
    payloadFormat: 'text',
    headers: {},
    headersText: null,
    columns: {},
    position: `p${id}`,
    table: 'public.outbox',
    transaction: { id, ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes: 1,
    ...given,
  };
}
