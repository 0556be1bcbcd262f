import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@strandline/core';
import { errnoOf } from './connect-errors.js';
import { queryRows, quoteName } from './connection.js';
import { mysqlError } from './errors.js';
import type { LogPlace } from './log-place.js';
import { mariadbPosition, readLogEnd, type ServerFacts } from './server.js';
import type { Session } from './session.js';
import type { TableFacts } from './table.js';

/** Seconds that one attempt waits for the lock, and with it everyone who wants to write; the last one repeats. */
const LOCK_WAITS = [1, 1, 2, 4, 8];
/** Milliseconds between attempts, in which the others write. */
const LOCK_PAUSE = 2_000;

/**
 * Seconds that the server keeps the lock for a connection that it hears nothing of: should that be dead, everyone who
 * wants to write waits for it. More than LOCK_PAUSE, and than what is done under the lock.
 */
const LOCK_LEASE = 5;

const ER_LOCK_WAIT_TIMEOUT = 1205;
const NO_PRIVILEGE = new Set([1044, 1142, 1227]);

export interface SnapshotSessions {
  /** Gets the snapshot. */
  readonly sql: Session;
  /** Looks at the log meanwhile, and holds the lock where one is needed. */
  readonly locker: Session;
}

/**
 * Opens a consistent snapshot and tells the place of the log that belongs to it.
 *
 * MariaDB does both at once, without a lock. On MySQL the outbox alone is locked against writing for the moment
 * between the two. The lock waits for the transactions that have written the table and have not ended, and
 * while it waits nobody else can write it: so it gives up soon, and tries again after a pause.
 */
export async function openSnapshot(
  { sql, locker }: SnapshotSessions,
  facts: ServerFacts,
  table: TableFacts,
  log: Logger,
  signal: AbortSignal,
): Promise<LogPlace> {
  await sql.run('set session transaction isolation level repeatable read');
  if (facts.flavour === 'mariadb') {
    await sql.run('start transaction with consistent snapshot, read only');
    const rows = await queryRows(sql, "show status like 'binlog_snapshot_%'");
    const value = (name: string): string =>
      rows.find((row) => String(row['Variable_name']).toLowerCase() === name)?.['Value'] ?? '';
    const at = { file: value('binlog_snapshot_file'), offset: Number(value('binlog_snapshot_position')) };
    return { at, executed: await mariadbPosition(locker, at) };
  }
  await lockTable(locker, table, log, signal);
  try {
    await sql.run('start transaction with consistent snapshot, read only');
    return await readLogEnd(locker, facts);
  } finally {
    await locker.run('unlock tables');
  }
}

async function lockTable(
  locker: Session,
  table: TableFacts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    const seconds = LOCK_WAITS[Math.min(attempt, LOCK_WAITS.length - 1)] ?? 1;
    await locker.run(
      `set session lock_wait_timeout = ${String(seconds)}, session wait_timeout = ${String(LOCK_LEASE)}`,
    );
    try {
      const lock = `lock tables ${quoteName(table.schema)}.${quoteName(table.name)} read`;
      await locker.run(lock, seconds * 1_000 + locker.answerTimeout);
      return;
    } catch (error) {
      if (NO_PRIVILEGE.has(errnoOf(error))) throw mayNotLock(table, error);
      if (errnoOf(error) !== ER_LOCK_WAIT_TIMEOUT) throw error;
    }
    log.warn(
      { table: table.label, attempt: attempt + 1 },
      'the start snapshot waits for a transaction that has written the outbox and has not ended',
    );
    await sleep(LOCK_PAUSE, undefined, { signal });
  }
}

function mayNotLock(table: TableFacts, cause: unknown): Error {
  return mysqlError(
    'MYSQL_PRIVILEGE',
    `The user may not lock ${table.label} (${cause instanceof Error ? cause.message : String(cause)}), which start: 'snapshot' does for a moment.`,
    `Run: grant select, lock tables on ${quoteName(table.schema)}.* to <user>; (with sql_mode ANSI_QUOTES).`,
    { cause },
  );
}
