import type { Offset, SourceIdentity } from '@strandline/core';
import { queryRows } from './connection.js';
import { mysqlError } from './errors.js';
import { isoTime, readBegun } from './file-begun.js';
import { withGtid } from './gtids.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import { compareFiles, parseLogPosition, WHOLE, type LogPosition } from './position.js';
import { readLogEnd, readLogStart, readServer, type ServerFacts } from './server.js';
import type { Session } from './session.js';
import { positionAhead, purged } from './stream-errors.js';
import type { TableFacts } from './table.js';

/** What an offset of this source says about where it belongs. */
export interface MysqlIdentity extends SourceIdentity {
  readonly source: 'mysql';
  readonly flavour: string;
  readonly server: string;
  readonly table: string;
}

export function identityOf(facts: ServerFacts, table: TableFacts): MysqlIdentity {
  return { source: 'mysql', flavour: facts.flavour, server: facts.server, table: table.label };
}

const OWNER_FIELDS = ['source', 'flavour', 'table'] as const;

/** Throws unless the position can belong to this log. */
export function checkIdentity(
  facts: ServerFacts,
  offset: Pick<Offset, 'identity' | 'watermark'>,
  here: MysqlIdentity,
): void {
  const saved = offset.identity;
  for (const field of OWNER_FIELDS) {
    if (saved[field] === here[field]) continue;
    throw foreign(
      `another ${field === 'flavour' ? 'kind of server' : field}: ${String(saved[field])}, and this is ${here[field]}`,
      offset,
    );
  }
  // With GTIDs another server of the topology has the same history; without, offsets in files mean nothing there.
  if (facts.gtids || saved['server'] === here.server) return;
  throw foreign(
    `the server ${String(saved['server'])}, and this is ${here.server}; without GTIDs positions mean nothing here`,
    offset,
  );
}

/**
 * Throws unless what was read up to a position is still the past of what the server has now: it can have been
 * replaced by another, or its log reset, behind a connection that was lost or a pipeline that was stopped.
 */
export async function checkPast(
  { connector, facts, serverId, config }: Pick<LiveLogOptions, 'connector' | 'facts' | 'serverId' | 'config'>,
  { server, at }: LogPosition,
  place: LogPlace,
  position: string,
): Promise<void> {
  const sql = await connector.connect();
  try {
    const now = await readServer(sql);
    if (!facts.gtids && now !== server) {
      const where = `the server ${server}, and this is ${now}; without GTIDs positions mean nothing here`;
      throw foreign(where, { watermark: position });
    }
    await checkReachable(sql, facts, place, position);
    if (now !== server || at.begun === undefined) return;
    const files = (await queryRows(sql, 'show binary logs')).map((row) => row['Log_name'] ?? '');
    const last = files.at(-1) ?? '';
    if (compareFiles({ file: last, offset: Infinity }, at) < 0)
      throw positionAhead(`its last log is ${last}, the offset is in ${at.file}`, position);
    if (!files.includes(at.file)) return;
    const begun = await readBegun(connector.options, serverId, at.file, config.silenceTimeout);
    if (begun === at.begun) return;
    const wrong = `its ${at.file} was begun at ${isoTime(begun)}, that of the offset at ${isoTime(at.begun)}`;
    throw positionAhead(wrong, position);
  } finally {
    sql.destroy();
  }
}

function foreign(what: string, offset: Pick<Offset, 'watermark'>): Error {
  return mysqlError(
    'MYSQL_OFFSET_FOREIGN',
    `The position belongs to ${what}.`,
    'Correct the connection or the name of the pipeline; to start afresh on purpose, use a new name.',
    { position: offset.watermark },
  );
}

/** From where the log must be read for everything after a saved position. */
export function placeAfter(position: LogPosition): LogPlace {
  if (position.from !== null) return position.from;
  const { at, ordinal, gtid, executed } = position;
  return { at, executed: ordinal === WHOLE && gtid !== '' ? withGtid(executed, gtid) : executed };
}

/** Throws `MYSQL_PURGED` or `MYSQL_POSITION_AHEAD` when the log can't be read from there. */
export async function checkReachable(
  sql: Session,
  facts: ServerFacts,
  place: LogPlace,
  position: string,
): Promise<void> {
  if (!facts.gtids) {
    await checkFile(sql, facts, place, position);
    return;
  }
  if (facts.flavour === 'mariadb') {
    await checkDomains(sql, facts, place, position);
    return;
  }
  const [row] = await queryRows(
    sql,
    `select gtid_subset(?, @@global.gtid_executed) as known, gtid_subset(@@global.gtid_purged, ?) as there,
            gtid_subtract(?, @@global.gtid_executed) as ahead, gtid_subtract(@@global.gtid_purged, ?) as gone`,
    [place.executed, place.executed, place.executed, place.executed],
  );
  if (Number(row?.['known']) !== 1)
    throw positionAhead(`it has not executed ${row?.['ahead'] ?? '?'}`, position);
  if (Number(row?.['there']) !== 1) throw purged(`it has purged ${row?.['gone'] ?? '?'}`, position);
}

async function checkFile(
  sql: Session,
  facts: ServerFacts,
  { at }: LogPlace,
  position: string,
): Promise<void> {
  const first = await readLogStart(sql, facts);
  const end = await readLogEnd(sql, facts);
  if (compareFiles(at, first.at) < 0) throw purged(`the oldest log is ${first.at.file}`, position);
  if (compareFiles(at, end.at) > 0)
    throw positionAhead(`it ends at ${end.at.file}:${String(end.at.offset)}`, position);
}

async function checkDomains(
  sql: Session,
  facts: ServerFacts,
  { executed }: LogPlace,
  position: string,
): Promise<void> {
  const end = domains((await readLogEnd(sql, facts)).executed);
  for (const [domain, sequence] of domains(executed)) {
    const last = end.get(domain) ?? 0n;
    if (sequence > last)
      throw positionAhead(`its last transaction of domain ${domain} is number ${String(last)}`, position);
  }
}

function domains(position: string): Map<string, bigint> {
  const entries = position.split(',').filter((entry) => entry !== '');
  return new Map(entries.map((entry) => [entry.split('-')[0] ?? '', BigInt(entry.split('-')[2] ?? '0')]));
}

export function logPlaceOf(watermark: string): LogPlace | null {
  const position = parseLogPosition(watermark);
  return position === null ? null : placeAfter(position);
}
