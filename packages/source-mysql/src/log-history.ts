import { withSession } from './connection.js';
import { mysqlError, MysqlSourceError } from './errors.js';
import { isoTime, readBegun } from './file-begun.js';
import type { LiveLogOptions } from './live-log-options.js';
import { LogFiles } from './log-files.js';
import type { LogPlace } from './log-place.js';
import { readExecutedBefore, type ServerFacts } from './server.js';
import type { Session } from './session.js';

type Live = Pick<LiveLogOptions, 'connector' | 'config' | 'facts' | 'serverId'>;

/** When a file was begun, in Unix seconds. */
interface Begun {
  readonly file: string;
  readonly begun: number;
}

/**
 * The place before everything that was logged at a time (Unix seconds) or later: the start of the last file that was
 * begun before that second, since a file's first second may have begun in the file before. Throws
 * `MYSQL_HISTORY_GONE` when that file is no longer there.
 */
export async function placeBefore(live: Live, sql: Session, seconds: number): Promise<LogPlace> {
  const { facts } = live;
  const { names } = await LogFiles.read(sql, facts.server);
  const last = await lastBefore(names, seconds, (file) => begunOf(live, file));
  const { file, begun } = last ?? (await oldestOf(live, sql));
  const executed = await readExecutedBefore(sql, facts, file);
  if (last === null && hasPurged(facts, file, executed))
    throw historyGone(`to ${isoTime(seconds)}`, { file, begun });
  return { at: { file, offset: 4, begun }, executed };
}

/** Binary search: each question is a dump of its own, which the server begins at once. */
async function lastBefore(
  names: readonly string[],
  seconds: number,
  begunOf: (file: string) => Promise<number>,
): Promise<Begun | null> {
  let found: Begun | null = null;
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const file = names[middle] ?? '';
    const begun = await begunOf(file);
    if (begun < seconds) {
      found = { file, begun };
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

/** Whether there were files before the oldest one. */
function hasPurged({ gtids }: ServerFacts, file: string, executed: string): boolean {
  return gtids ? executed !== '' : !/\.0*1$/.test(file);
}

async function oldestOf(live: Live, sql: Session): Promise<Begun> {
  const [file = ''] = (await LogFiles.read(sql, live.facts.server)).names;
  return { file, begun: await begunOf(live, file) };
}

function begunOf({ connector, serverId, config }: Live, file: string): Promise<number> {
  return readBegun(connector.options, serverId, file, config.silenceTimeout);
}

/** For a reader beside the owner: says of a log that was purged what of it is there yet. */
export async function explainHistory(error: unknown, live: Live): Promise<unknown> {
  if (!(error instanceof MysqlSourceError) || error.code !== 'MYSQL_PURGED') return error;
  try {
    const oldest = await withSession(live.connector, (sql) => oldestOf(live, sql));
    return historyGone('to the position', oldest, error);
  } catch {
    // The server went away before it could be asked: what it said before is true yet.
    return error;
  }
}

function historyGone(wanted: string, { file, begun }: Begun, cause?: MysqlSourceError): Error {
  return mysqlError(
    'MYSQL_HISTORY_GONE',
    `The binlog does not reach back ${wanted} any more: its oldest file, ${file}, was begun at ${isoTime(begun)}.`,
    `Raise binlog_expire_logs_seconds to keep it for longer. What is there yet can be read from 'earliest', or from ${isoTime(begun + 1)} on.`,
    { cause, position: cause?.position },
  );
}
