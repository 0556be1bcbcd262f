import type { DeadLettersOptions } from '@strandline/dead-letters';
import {
  testDatabase,
  testMysqlDatabase,
  waitUntil,
  type DatabaseKind,
  type TestDatabase,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { RowDataPacket } from 'mysql2';

type Rows = readonly Record<string, unknown>[];

/** A transaction of the test's own, which holds something up. */
export interface Holder extends AsyncDisposable {
  run(sql: string): Promise<unknown>;
}

/** A database for dead letters, and what a test does to it behind their back. */
export interface LetterDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  /** Options of a table there, over another URL if need be. */
  options(url?: string): DeadLettersOptions;
  run(sql: string): Promise<Rows>;
  /** Begins a transaction; it is rolled back at the end. */
  hold(): Promise<Holder>;
  /** Resolves when a session of the code under test waits for a lock. */
  untilWaiting(): Promise<void>;
  /** Ends all sessions of the code under test. */
  endSessions(): Promise<void>;
  /** Makes a user who may make nothing there; resolves with its URL. `grant` lets it use the tables. */
  poorUser(): Promise<{ readonly url: string; grant(): Promise<void> }>;
}

export async function letterDatabase(kind: DatabaseKind): Promise<LetterDatabase> {
  return kind === 'postgres' ? onPostgres(await testDatabase()) : onMysql(await testMysqlDatabase(kind));
}

const TABLES = ['strandline_dead_letters', 'strandline_parked_keys', 'strandline_letter_owners'];

function onPostgres(db: TestDatabase): LetterDatabase {
  const poor = `${db.name}_poor`;
  const ours = "datname = current_database() and application_name = 'strandline dead-letters'";
  const run = async (sql: string): Promise<Rows> => (await db.pool.query<Record<string, unknown>>(sql)).rows;
  return {
    url: db.url,
    name: db.name,
    run,
    options: (url = db.url) => ({ postgres: { url } }),
    async hold() {
      const client = await db.pool.connect();
      await client.query('begin');
      return {
        run: (sql) => client.query(sql),
        async [Symbol.asyncDispose]() {
          await client.query('rollback');
          client.release();
        },
      };
    },
    async untilWaiting() {
      const sql = `select count(*) > 0 from pg_stat_activity where ${ours} and wait_event_type = 'Lock'`;
      await db.waitFor('a session waits for a lock', sql);
    },
    async endSessions() {
      await run(`select pg_terminate_backend(pid) from pg_stat_activity where ${ours}`);
      await db.waitFor('they have ended', `select count(*) = 0 from pg_stat_activity where ${ours}`);
    },
    async poorUser() {
      await run(`create role ${poor} login password 'poor'`);
      await run('revoke create on schema public from public');
      const url = new URL(db.url);
      [url.username, url.password] = [poor, 'poor'];
      const grant = async (): Promise<void> => {
        for (const table of TABLES) await run(`grant select, insert, update, delete on ${table} to ${poor}`);
      };
      return { url: url.href, grant };
    },
    async [Symbol.asyncDispose]() {
      await run(`do $$ begin if exists (select from pg_roles where rolname = '${poor}') then
        drop owned by ${poor}; drop role ${poor}; end if; end $$`);
      await db[Symbol.asyncDispose]();
    },
  };
}

function onMysql(db: TestMysqlDatabase): LetterDatabase {
  const poor = `${db.name}_poor`;
  const own = new Set<number>();
  db.pool.on('connection', ({ threadId }) => void own.add(threadId));
  const run = async (sql: string): Promise<Rows> => {
    const [rows] = await db.pool.query<RowDataPacket[]>(sql);
    return rows;
  };
  const sessions = async (): Promise<number[]> => {
    const rows = await run(
      `select id from information_schema.processlist where user in ('${db.name}', '${poor}')`,
    );
    return rows.map((row) => Number(row['id'] ?? row['ID'])).filter((id) => !own.has(id));
  };
  return {
    url: db.url,
    name: db.name,
    run,
    options: (url = db.url) => ({ mysql: { url } }),
    async hold() {
      const connection = await db.pool.getConnection();
      await connection.query('start transaction');
      return {
        run: (sql) => connection.query(sql),
        async [Symbol.asyncDispose]() {
          await connection.query('rollback');
          connection.release();
        },
      };
    },
    async untilWaiting() {
      const isWaiting = async (): Promise<boolean> => {
        const rows = await run(
          `select trx_mysql_thread_id as id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'`,
        );
        const ours = await sessions();
        return rows.some((row) => ours.includes(Number(row['id'])));
      };
      // The list is the same again for who asks more often than every 100 ms.
      await waitUntil('a session waits for a lock', isWaiting, { everyMs: 150 });
    },
    async endSessions() {
      const noSuchThread = 1094;
      for (const id of await sessions()) {
        await db.pool.query(`kill ${String(id)}`).catch((error: unknown) => {
          if ((error as { errno?: number }).errno !== noSuchThread) throw error;
        });
      }
      await waitUntil('they have ended', async () => (await sessions()).length === 0);
    },
    async poorUser() {
      await run(`create user '${poor}'@'%' identified by 'poor'`);
      await run(`grant select, insert, update, delete on ${db.name}.* to '${poor}'@'%'`);
      const url = new URL(db.url);
      [url.username, url.password] = [poor, 'poor'];
      return { url: url.href, grant: () => Promise.resolve() };
    },
    async [Symbol.asyncDispose]() {
      await run(`drop user if exists '${poor}'@'%'`);
      await db[Symbol.asyncDispose]();
    },
  };
}
