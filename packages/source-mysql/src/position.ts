import type { Position } from '@strandline/core';
import { parseSnapshotPosition, type SnapshotPosition } from '@strandline/source-kit';
import { mysqlError } from './errors.js';
import { withGtid, type Executed } from './gtids.js';

/** A place in one server's log files. */
export interface FilePosition {
  readonly file: string;
  /** Where a transaction starts, in bytes. A file is never longer than one transaction past max_binlog_size. */
  readonly offset: number;
  /** When the file was begun, Unix seconds: after a reset of the log another one has its name. */
  readonly begun?: number;
}

/**
 * Positions of this source, as text; the parts are separated by semicolons:
 *
 *     <server>;<file>:<offset>:<begun>;<ordinal>;<gtid>;<executed before>;<from>
 *     snapshot:start
 *     snapshot:["42"]
 *
 * `file:offset` is where the transaction starts in the files of that server, `begun` (if known) when that file was
 * begun, `ordinal` the 1-based place of
 * the row in the transaction, WHOLE for all of it, 0 for "everything that committed before". The two GTID parts
 * are empty where the server has none; the first is empty too in a position that is not of a transaction. `from` is where reading must resume when that is earlier: at the oldest XA transaction that
 * was prepared and not decided yet; else it is empty.
 */
export interface LogPosition {
  readonly kind: 'log';
  readonly server: string;
  readonly at: FilePosition;
  readonly ordinal: number;
  /** Of the transaction; empty for ordinal 0, and without GTIDs. */
  readonly gtid: string;
  /** What was executed before the transaction; empty without GTIDs. */
  readonly executed: string;
  readonly from: { readonly at: FilePosition; readonly executed: string } | null;
}

export type MysqlPosition = LogPosition | SnapshotPosition;

/** The ordinal of a whole transaction. */
export const WHOLE = 0xffff_ffff;

export function formatPosition(position: Omit<LogPosition, 'kind'>): Position {
  const [before, behind] = formatParts(position);
  return before + String(position.ordinal) + behind;
}

/** What stands before and behind the ordinal. */
export function formatParts(position: Omit<LogPosition, 'kind' | 'ordinal'>): readonly [string, string] {
  const { server, at, gtid, executed, from } = position;
  const fromText = from === null ? '' : `${formatFile(from.at)}@${from.executed}`;
  return [`${server};${formatFile(at)};`, `;${gtid};${executed};${fromText}`];
}

/** Reads a position; throws `MYSQL_POSITION` for text that this source did not write. */
export function parsePosition(text: Position): MysqlPosition {
  const snapshot = parseSnapshotPosition(text);
  if (snapshot !== null) return snapshot;
  const position = readLogPosition(text.split(';'));
  if (position !== null) return position;
  throw mysqlError(
    'MYSQL_POSITION',
    `${JSON.stringify(text)} is not a MySQL position.`,
    'If the saved offset holds this, it was written by something else.',
  );
}

const GTID = /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?::[a-z_]\w{0,31})?:\d+|\d+-\d+-\d+)$/i;

/** Null where a part is not what it must be: one that is left out in silence may be where reading must resume. */
function readLogPosition(parts: readonly string[]): LogPosition | null {
  const [server = '', file = '', ordinalText = '', gtid = '', executed = '', fromText = ''] = parts;
  const at = parseFile(file);
  const ordinal = wholeNumber(ordinalText);
  const from = fromText === '' ? null : parseFrom(fromText);
  const isWhole = parts.length === 6 && (gtid === '' || GTID.test(gtid));
  if (!isWhole || at === null || ordinal === null || from === undefined) return null;
  return { kind: 'log', server, at, ordinal, gtid, executed, from };
}

function wholeNumber(text: string): number | null {
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}

/** Reads a position of the log; null for one of the start snapshot. */
export function parseLogPosition(text: Position): LogPosition | null {
  const position = parsePosition(text);
  return position.kind === 'log' ? position : null;
}

/** Everything that committed before a place of a server's log. */
export function placePosition(
  server: string,
  { at, executed }: Pick<LogPosition, 'at' | 'executed'>,
): Position {
  return formatPosition({ server, at, ordinal: 0, gtid: '', executed, from: null });
}

/** Undefined for text that is none. A file may have an @ in its name, and what was executed has none. */
function parseFrom(text: string): LogPosition['from'] | undefined {
  const sign = text.lastIndexOf('@');
  const at = parseFile(text.slice(0, Math.max(sign, 0)));
  return at === null ? undefined : { at, executed: text.slice(sign + 1) };
}

function formatFile({ file, offset, begun }: FilePosition): string {
  return `${file}:${String(offset)}${begun === undefined ? '' : `:${String(begun)}`}`;
}

function parseFile(text: string): FilePosition | null {
  const [, file = '', offsetText = '', begunText] = /^(.+?):(\d+)(?::(\d+))?$/.exec(text) ?? [];
  const offset = wholeNumber(offsetText);
  const begun = begunText === undefined ? undefined : wholeNumber(begunText);
  if (offset === null || begun === null) return null;
  return begun === undefined ? { file, offset } : { file, offset, begun };
}

/** Orders two places in one server's files. File names grow by a number: `binlog.999999` is followed by a longer one. */
export function compareFiles(a: FilePosition, b: FilePosition): number {
  if (a.file.length !== b.file.length) return a.file.length - b.file.length;
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.offset - b.offset;
}

/**
 * Orders two places in the log. Without GTIDs by the files of the server that wrote both. With GTIDs by what had
 * been executed before each: that holds on every server of the topology, while offsets in files do not.
 */
export function compareLog(executed: (text: string) => Executed, a: LogPosition, b: LogPosition): number {
  if (a.executed === '' && b.executed === '' && a.gtid === '' && b.gtid === '') {
    return compareFiles(a.at, b.at) || a.ordinal - b.ordinal;
  }
  // Behind the last transaction of the log lies its end: that is one place, told in two ways.
  if (isBehind(executed, a, b) || isBehind(executed, b, a)) return 0;
  if (a.gtid === b.gtid) {
    if (a.gtid !== '' || a.executed === b.executed) return a.ordinal - b.ordinal;
    return executed(b.executed).covers(a.executed) ? -1 : 1;
  }
  if (a.gtid !== '' && executed(b.executed).contains(a.gtid)) return -1;
  if (b.gtid !== '' && executed(a.executed).contains(b.gtid)) return 1;
  // Neither lies behind the other. A place without a transaction comes before what it does not cover.
  return a.gtid === '' ? -1 : 1;
}

/** Whether a whole transaction is the last one of all that was executed at a place. */
function isBehind(executed: (text: string) => Executed, whole: LogPosition, place: LogPosition): boolean {
  return (
    whole.ordinal === WHOLE &&
    whole.gtid !== '' &&
    place.gtid === '' &&
    executed(place.executed).contains(whole.gtid) &&
    executed(withGtid(whole.executed, whole.gtid)).covers(place.executed)
  );
}
