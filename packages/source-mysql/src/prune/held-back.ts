import type { Offset, Position, Relation, SourceIdentity } from '@strandline/core';
import { parseExecuted, withGtid, type Flavour } from '../gtids.js';
import type { LogPlace } from '../log-place.js';
import { compareFiles, parseLogPosition, WHOLE, type LogPosition } from '../position.js';

/** The outbox's server, and the table. */
export interface OutboxPlace {
  readonly flavour: Flavour;
  readonly server: string;
  readonly table: string;
  readonly gtids: boolean;
}

/**
 * Names are compared without regard to case, as some servers do. With GTIDs a pipeline can read another server of the same
 * topology: which ones that are only its watermark tells, so it is taken for one that does.
 */
export function relationOf(saved: SourceIdentity, here: OutboxPlace): Relation {
  const { source, flavour, server, table } = saved;
  if (source === undefined) return 'unknown';
  if (source !== 'mysql') return 'other';
  if (flavour !== undefined && flavour !== here.flavour) return 'other';
  if (table === undefined) return 'unknown';
  if (table.toLowerCase() !== here.table.toLowerCase()) return 'other';
  return server === here.server || here.gtids ? 'reads' : 'other';
}

/**
 * What stands against taking everything before `end` for settled; null when nothing does. A pipeline of another topology
 * has nothing to settle here, unless it is `named` as one that has.
 */
export function notSettled(
  end: LogPlace,
  { identity, watermark }: Pick<Offset, 'identity' | 'watermark'>,
  here: OutboxPlace,
  now: LogPlace,
  named: boolean,
): string | null {
  const position = parseLogPosition(watermark);
  if (position === null) return 'it is reading the rows that were there when it started';
  if (!here.gtids) return notSettledInFiles(end, position, now);
  const settled = settledBy(position);
  if (identity['server'] !== here.server && isOfOther(settled, now.executed, here.flavour))
    return named ? FOREIGN : null;
  if (!parseExecuted(here.flavour, now.executed).covers(settled)) return AHEAD;
  if (parseExecuted(here.flavour, settled).covers(end.executed)) return null;
  return `it has to come to ${end.at.file}:${String(end.at.offset)}`;
}

const FOREIGN =
  'its offset is of another topology: this server has not executed one transaction of its origins. Start it afresh on this server';
const AHEAD = 'its offset lies ahead of the log: it is of another server, or of one whose log was reset';

/** A row of a transaction says nothing of the rest of it. */
function settledBy({ executed, gtid, ordinal }: LogPosition): string {
  return ordinal === WHOLE && gtid !== '' ? withGtid(executed, gtid) : executed;
}

/**
 * Whether two servers have not one transaction of one origin: then they are not of one topology.
 *
 * MariaDB tells of each domain only its last transaction, and after a failover that is one of another server. So the domain
 * alone counts there, and servers that have nothing but its number in common are taken for one topology.
 */
function isOfOther(settled: string, executed: string, flavour: Flavour): boolean {
  const there = originsOf(settled, flavour);
  const here = originsOf(executed, flavour);
  return there.size > 0 && [...there].every((origin) => !here.has(origin));
}

/** Server UUIDs; on MariaDB domains. */
function originsOf(executed: string, flavour: Flavour): ReadonlySet<string> {
  const entries = executed.split(',').filter((entry) => entry !== '');
  return new Set(
    entries.map((entry) => (entry.split(flavour === 'mysql' ? ':' : '-')[0] ?? '').toLowerCase()),
  );
}

function notSettledInFiles(end: LogPlace, { at }: LogPosition, now: LogPlace): string | null {
  if (compareFiles(at, now.at) > 0) return AHEAD;
  // The place of a transaction is its start: what is before that is settled.
  if (compareFiles(at, end.at) >= 0) return null;
  return `it has to come to ${end.at.file}:${String(end.at.offset)}`;
}

/** The file of this server that a watermark lies in, and when it was begun; null where neither is to be compared. */
export function fileOf(watermark: Position, server: string): { file: string; begun: number } | null {
  const position = parseLogPosition(watermark);
  if (position?.server !== server || position.at.begun === undefined) return null;
  return { file: position.at.file, begun: position.at.begun };
}
