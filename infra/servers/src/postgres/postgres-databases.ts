import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ServerError } from '../errors.js';

/** A slot is released a moment after its walsender was told to end. */
const releaseDeadlineMs = 10_000;

/** Runs `work` on a connection of its own. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A server that is killed under an idle client says so by an event, which must not end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Resolves when the server serves. */
export async function pingPostgres(url: string): Promise<void> {
  await withClient(url, (client) => client.query('SELECT'));
}

/** The same server and user, another database. */
export function withDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(database)}`;
  return other.href;
}

export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`));
  return withDatabase(serverUrl, name);
}

/**
 * Drops a database with what would keep it: connections, walsenders, and its replication slots, which are not
 * in the database but on the server, and would hold back WAL for every other test.
 */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    await dropSlots(client, name);
    await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
  });
}

async function dropSlots(client: pg.Client, database: string): Promise<void> {
  const giveUpAt = Date.now() + releaseDeadlineMs;
  for (;;) {
    // A consumer that reconnects takes its slot again, so both are done until none is left.
    await client.query(
      'SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = $1 AND active_pid IS NOT NULL',
      [database],
    );
    const { rows } = await client.query<{ slot_name: string; active: boolean }>(
      'SELECT slot_name, active FROM pg_replication_slots WHERE database = $1',
      [database],
    );
    if (rows.length === 0) return;
    for (const { slot_name, active } of rows) if (!active) await dropSlot(client, slot_name);
    if (Date.now() > giveUpAt) {
      throw new ServerError(
        'SERVER_CLEANUP_FAILED',
        `The replication slots of database ${database} stay in use: ${rows.map((row) => row.slot_name).join(', ')}.`,
        'Stop what reads them before the database is dropped.',
      );
    }
    if (rows.some((row) => row.active)) await delay(20);
  }
}

async function dropSlot(client: pg.Client, slot: string): Promise<void> {
  const gone = new Set(['42704', '55006']); // undefined_object: its owner dropped it; object_in_use: taken again
  try {
    await client.query('SELECT pg_drop_replication_slot($1)', [slot]);
  } catch (error) {
    if (!gone.has((error as { code?: string }).code ?? '')) throw error;
  }
}
