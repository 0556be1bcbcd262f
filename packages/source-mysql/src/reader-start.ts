import type { LogStart, Position } from '@strandline/core';
import { mysqlError } from './errors.js';
import { checkIdentity, placeAfter, type MysqlIdentity } from './identity.js';
import type { LiveLogOptions } from './live-log-options.js';
import { placeBefore } from './log-history.js';
import type { LogPlace } from './log-place.js';
import { parseLogPosition, placePosition, type LogPosition } from './position.js';
import { readLogEnd, readLogStart } from './server.js';
import type { Session } from './session.js';
import { refusePrepared } from './undecided-xa.js';

/** Where a reader begins. */
export interface ReaderStart {
  readonly place: LogPlace;
  /** The position that it stands for. */
  readonly position: Position;
  /** What lies at or before it is left out. */
  readonly after: LogPosition | null;
  /** Unix seconds: what committed before is left out. */
  readonly since: number | null;
}

/** Looks a start up in the log as it is now; whether the log can be read from there is seen at the connect. */
export async function readerStart(
  live: Omit<LiveLogOptions, 'start'>,
  identity: MysqlIdentity,
  sql: Session,
  from: LogStart,
): Promise<ReaderStart> {
  const { facts, config } = live;
  const at = (place: LogPlace, since: number | null = null): ReaderStart => ({
    place,
    position: placePosition(facts.server, place),
    after: null,
    since,
  });
  if (from === 'earliest') return at(await readLogStart(sql, facts));
  if (from === 'now') {
    await refusePrepared(sql, config);
    return at(await readLogEnd(sql, facts));
  }
  if ('time' in from) {
    const since = secondsOf(from.time);
    return at(await placeBefore(live, sql, since), since);
  }
  checkIdentity(facts, { identity: from.identity, watermark: from.after }, identity);
  const after = parseLogPosition(from.after);
  if (after === null) throw inSnapshot(from.after);
  return { place: placeAfter(after), position: from.after, after, since: null };
}

/** The log has no fractions of a second: what committed in the same one is read too. */
function secondsOf(time: string): number {
  const milliseconds = Date.parse(time);
  if (!Number.isNaN(milliseconds)) return Math.floor(milliseconds / 1_000);
  throw mysqlError(
    'MYSQL_POSITION',
    `${JSON.stringify(time)} is no time.`,
    'Write it as in 2026-07-24T18:00:00Z.',
  );
}

function inSnapshot(position: Position): Error {
  return mysqlError(
    'MYSQL_HISTORY_GONE',
    'The position lies in the start snapshot of the pipeline, and the rows of that are not in the log.',
    "Read from 'earliest', from a time, or from a position behind the snapshot.",
    { position },
  );
}
