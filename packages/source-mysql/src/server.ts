import { queryRows, type Connector } from './connection.js';
import { mysqlError } from './errors.js';
import { parseExecuted, type Flavour } from './gtids.js';
import type { FilePosition } from './position.js';
import type { Session } from './session.js';
import { queryVariables } from './variables.js';

/** What has to be known of a server before its log is read. */
export interface ServerFacts {
  readonly flavour: Flavour;
  readonly version: string;
  /** server_uuid on MySQL; server_uid or server id on MariaDB. */
  readonly server: string;
  /** Transactions have GTIDs, and the dump can start from a set of them. */
  readonly gtids: boolean;
}

/** Checks that rows can be read from this server's log at all, and gathers its facts. */
export async function inspectServer(
  connector: Connector,
  sql: Session,
  metadata: 'full' | 'minimal',
): Promise<ServerFacts> {
  const variables = await readVariables(sql);
  const version = variables.get('version') ?? '';
  const flavour: Flavour = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
  checkVersion(flavour, version, connector.target);
  if (variables.get('log_bin') !== 'ON') {
    throw mysqlError(
      'MYSQL_BINLOG_OFF',
      `The server at ${connector.target} writes no binlog.`,
      'Start it with log_bin and a server_id of its own.',
    );
  }
  const need = (
    name: string,
    wanted: string,
    code: 'MYSQL_BINLOG_FORMAT' | 'MYSQL_ROW_IMAGE' | 'MYSQL_ROW_METADATA',
  ): void => {
    const value = variables.get(name);
    if (value === undefined || value.toUpperCase() === wanted) return;
    throw mysqlError(
      code,
      `The server at ${connector.target} has ${name} = ${value}.`,
      `Run: set global ${name} = '${wanted}'; and make it permanent in the server's configuration. Sessions that are open keep the old value.`,
    );
  };
  // MariaDB's default is MIXED: rows of the outbox could be logged as statements.
  need('binlog_format', 'ROW', 'MYSQL_BINLOG_FORMAT');
  need('binlog_row_image', 'FULL', 'MYSQL_ROW_IMAGE');
  if (metadata === 'full') need('binlog_row_metadata', 'FULL', 'MYSQL_ROW_METADATA');
  return {
    flavour,
    version,
    server: serverOf(variables),
    gtids: flavour === 'mariadb' || variables.get('gtid_mode') === 'ON',
  };
}

/** What tells this server from others: where positions in files belong. */
export async function readServer(sql: Session): Promise<string> {
  return serverOf(await readVariables(sql));
}

export function serverOf(variables: ReadonlyMap<string, string>): string {
  const serverId = variables.get('server_id') ?? '0';
  return variables.get('server_uuid') ?? variables.get('server_uid') ?? `server_id ${serverId}`;
}

function readVariables(sql: Session): Promise<ReadonlyMap<string, string>> {
  return queryVariables(sql, 'global', [
    ...['version', 'log_bin', 'binlog_format', 'binlog_row_image', 'binlog_row_metadata'],
    ...['gtid_mode', 'server_uuid', 'server_uid', 'server_id'],
  ]);
}

function checkVersion(flavour: Flavour, version: string, target: string): void {
  if (fitsVersion(flavour, version)) return;
  throw mysqlError(
    'MYSQL_VERSION',
    `The server at ${target} is ${flavour === 'mariadb' ? 'MariaDB' : 'MySQL'} ${version}.`,
    'Strandline needs MySQL 8.0 or MariaDB 10.6, or newer.',
  );
}

export function fitsVersion(flavour: Flavour, version: string): boolean {
  const [major, minor] = seriesOf(version);
  return flavour === 'mariadb' ? major > 10 || (major === 10 && minor >= 6) : major >= 8;
}

function seriesOf(version: string): [major: number, minor: number] {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return [major, minor];
}

/** The end of the log, and what is executed there. */
export interface LogEnd {
  readonly at: FilePosition;
  readonly executed: string;
}

export async function readLogEnd(sql: Session, facts: ServerFacts): Promise<LogEnd> {
  const [row] = await queryRows(sql, statusStatement(facts));
  if (row === undefined) {
    throw mysqlError('MYSQL_BINLOG_OFF', 'The server shows no binlog position.', 'Start it with log_bin.');
  }
  const at = { file: row['File'] ?? '', offset: Number(row['Position']) };
  if (!facts.gtids) return { at, executed: '' };
  if (facts.flavour === 'mysql')
    return { at, executed: (row['Executed_Gtid_Set'] ?? '').replaceAll(/\s/g, '') };
  return { at, executed: await mariadbPosition(sql, at) };
}

/** The newer statement came with MySQL 8.2 and was the only one from 8.4 on. MariaDB keeps the older one. */
export function statusStatement({ flavour, version }: Pick<ServerFacts, 'flavour' | 'version'>): string {
  const [major, minor] = seriesOf(version);
  const isOld = flavour === 'mariadb' || (major === 8 && minor < 2);
  return isOld ? 'show master status' : 'show binary log status';
}

/** MariaDB's GTID position at a place in its files. */
export async function mariadbPosition(sql: Session, { file, offset }: FilePosition): Promise<string> {
  const [row] = await queryRows(sql, 'select binlog_gtid_pos(?, ?) as position', [file, offset]);
  return row?.['position'] ?? '';
}

/** What was executed before a file of the log; empty without GTIDs. */
export async function readExecutedBefore(sql: Session, facts: ServerFacts, file: string): Promise<string> {
  if (!facts.gtids) return '';
  if (facts.flavour === 'mariadb') return mariadbPosition(sql, { file, offset: 4 });
  // The second event of each file says so, but for what never was in this server's files.
  const events = await queryRows(sql, 'show binlog events in ? limit 2', [file]);
  const previous = events.find((event) => event['Event_type'] === 'Previous_gtids')?.['Info'] ?? '';
  const { executed } = await readLogStart(sql, facts);
  const texts = [previous, executed].filter((text) => text !== '');
  return parseExecuted('mysql', texts.join(',')).text;
}

/** The oldest place of the log that is still there. */
export async function readLogStart(sql: Session, facts: ServerFacts): Promise<LogEnd> {
  const [first] = await queryRows(sql, 'show binary logs');
  const at = { file: first?.['Log_name'] ?? '', offset: 4 };
  if (!facts.gtids) return { at, executed: '' };
  if (facts.flavour === 'mariadb') return { at, executed: await mariadbPosition(sql, at) };
  const [row] = await queryRows(sql, 'select @@global.gtid_purged as purged');
  return { at, executed: (row?.['purged'] ?? '').replaceAll(/\s/g, '') };
}
