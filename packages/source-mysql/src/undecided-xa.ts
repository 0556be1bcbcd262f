import type { MysqlConfig } from './config.js';
import { errnoOf } from './connect-errors.js';
import { queryRows } from './connection.js';
import { mysqlError } from './errors.js';
import type { Session } from './session.js';

/** ER_XAER_RMERR (MySQL 5.7 and newer), and what a lack of privileges is called elsewhere. */
const MAY_NOT_RECOVER = new Set([1227, 1401]);

/**
 * An XA transaction that was prepared before the start could commit after it, and its rows lie before: they would be
 * lost without a trace, for a commit in the log doesn't say what was prepared. So a user who may not see whether there
 * is one is refused too. That costs one grant, which managed services give as well, and is needed
 * only for that: no start from an offset asks.
 */
export async function refusePrepared(sql: Session, { undecidedXa }: MysqlConfig): Promise<void> {
  if (undecidedXa === 'ignore') return;
  const prepared = await queryRows(sql, 'xa recover').catch((error: unknown) => {
    throw MAY_NOT_RECOVER.has(errnoOf(error)) ? mayNotRecover(error) : error;
  });
  if (prepared.length === 0) return;
  throw mysqlError(
    'MYSQL_XA_PREPARED',
    `The server has ${String(prepared.length)} XA transactions that are prepared and not decided: should they commit, their rows would lie before the start.`,
    "Commit or roll them back (xa recover lists them), or use start: 'earliest'.",
  );
}

/** Whether XA transactions are prepared and not decided; null when this user may not see it. */
export async function hasPrepared(sql: Session): Promise<boolean | null> {
  try {
    return (await queryRows(sql, 'xa recover')).length > 0;
  } catch (error) {
    if (MAY_NOT_RECOVER.has(errnoOf(error))) return null;
    throw error;
  }
}

function mayNotRecover(cause: unknown): Error {
  return mysqlError(
    'MYSQL_PRIVILEGE',
    `The user may not see whether XA transactions are prepared and not decided (${cause instanceof Error ? cause.message : String(cause)}): should one commit after this first start, its rows would lie before it.`,
    "Run: grant xa_recover_admin on *.* to <user>; it may be revoked once the pipeline has started. Or use start: 'earliest', or, where nobody uses XA, mysql({ undecidedXa: 'ignore' }).",
    { cause },
  );
}
