import { createDatabase, dropDatabase } from '@strandline/servers';
import pg from 'pg';
import { providedUrl } from './servers.js';
import { uniqueName } from './unique-name.js';
import { waitUntil, type WaitOptions } from './wait-until.js';

/** The connections of a process that was killed end a moment after it. */
const connectionsEndWithinMs = 2_000;

/** A database of one test's own. Whatever is made in it, slots included, goes with it. */
export interface TestDatabase extends AsyncDisposable {
  /** Superuser's connection string to this database. */
  readonly url: string;
  /** Of the database; also the prefix of everything else that is named here. */
  readonly name: string;
  readonly pool: pg.Pool;
  /** A replication slot name that no other test has. The slot itself is made by who uses it. */
  slot(suffix?: string): string;
  /** A publication name. Publications are local to the database; the name helps when reading logs. */
  publication(suffix?: string): string;
  /** Asks until the first column of the first row is true, and resolves with that row. */
  waitFor<Row extends Record<string, unknown>>(
    what: string,
    sql: string,
    values?: unknown[],
    o?: WaitOptions,
  ): Promise<Row>;
  /** Waits until a slot is read by someone, by nobody, or is no more. */
  waitForSlot(slot: string, state: 'active' | 'inactive' | 'gone', options?: WaitOptions): Promise<void>;
}

/**
 * `await using db = await testDatabase()`. At the end everything is removed, and the test fails if its code left a
 * connection open.
 *
 * @param serverUrl of another server than the run's, such as one that the test kills.
 */
export async function testDatabase(serverUrl?: string): Promise<TestDatabase> {
  const server = serverUrl ?? (await providedUrl('postgresUrl'));
  const name = uniqueName();
  const url = await createDatabase(server, name);
  const pool = new pg.Pool({ connectionString: url, max: 10, application_name: 'test-kit pool' });
  // Idle clients of a server that the test kills say so here; the next query will too.
  pool.on('error', () => undefined);

  const waitFor = <Row extends Record<string, unknown>>(
    what: string,
    sql: string,
    values?: unknown[],
    options?: WaitOptions,
  ): Promise<Row> =>
    waitUntil(
      what,
      async () => {
        const { rows } = await pool.query<Row>(sql, values);
        const [row] = rows;
        return row !== undefined && Object.values(row)[0] === true ? row : undefined;
      },
      options,
    );

  return {
    url,
    name,
    pool,
    slot: (suffix = 'slot') => `${name}_${suffix}`,
    publication: (suffix = 'publication') => `${name}_${suffix}`,
    waitFor,
    async waitForSlot(slot, state, options) {
      const sql = `SELECT coalesce((SELECT CASE WHEN active THEN 'active' ELSE 'inactive' END
        FROM pg_replication_slots WHERE slot_name = $1), 'gone') = $2`;
      await waitFor(`slot ${slot} is ${state}`, sql, [slot, state], options);
    },
    async [Symbol.asyncDispose]() {
      // It waits for ever for a client that was checked out and not released; the look at the connections doesn't.
      const ended = pool.end();
      const left = await connectionsLeft(server, name);
      await dropDatabase(server, name);
      await assertNothingRemains(server, name);
      if (left.length > 0) throw new Error(`The test left connections open to ${name}: ${left.join(', ')}.`);
      await ended;
    },
  };
}

/** Who is connected yet, walsenders included, after a fair while. */
async function connectionsLeft(server: string, database: string): Promise<string[]> {
  const sql = `SELECT backend_type || ' "' || application_name || '"' AS who
    FROM pg_stat_activity WHERE datname = $1 AND backend_type IN ('client backend', 'walsender')`;
  return withServer(server, async (client) => {
    let left: string[] = [];
    const look = async (): Promise<boolean> => {
      left = (await client.query<{ who: string }>(sql, [database])).rows.map(({ who }) => who);
      return left.length === 0;
    };
    await waitUntil('all connections have ended', look, { deadlineMs: connectionsEndWithinMs }).catch(
      () => undefined,
    );
    return left;
  });
}

async function assertNothingRemains(server: string, database: string): Promise<void> {
  const sql = `SELECT 'database ' || datname AS what FROM pg_database WHERE datname = $1
    UNION ALL SELECT 'slot ' || slot_name FROM pg_replication_slots
    WHERE database = $1 OR starts_with(slot_name, $1)`;
  const remains = await withServer(server, (client) => client.query<{ what: string }>(sql, [database]));
  if (remains.rows.length === 0) return;
  throw new Error(`The test leaves behind: ${remains.rows.map(({ what }) => what).join(', ')}.`);
}

async function withServer<T>(server: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
