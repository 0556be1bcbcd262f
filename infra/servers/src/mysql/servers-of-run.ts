import { mariadbKind } from '../mariadb/mariadb.js';
import { connectionStringIn, isWayAllowed } from '../origins/choose.js';
import { requireDockerEngine } from '../origins/docker-engine.js';
import type { MysqlKind } from './mysql-kind.js';
import type { MysqlOptions } from './mysql-options.js';
import { prepareServerOfKind, startServerOfKind, type MysqlServer } from './mysql-server.js';
import { mysqlKind } from './mysql.js';

const kinds = [mysqlKind, mariadbKind];

/** A kind alone is the environment's server of that kind, or else the newest; the others are as in `mysql:8.0`. */
export type MysqlServerName = MysqlKind['kind'] | `${MysqlKind['kind']}:${string}`;

/**
 * The servers on which a test run proves that each version will do: with Docker every tested version, without it those
 * that Debian has, and of a kind that the environment names that one alone. The kinds alone are always among them.
 */
export async function mysqlServersOfRun(): Promise<MysqlServerName[]> {
  const hasDocker = isWayAllowed('docker') && (await answersDocker());
  return kinds.flatMap((kind) => namesOf(kind, hasDocker));
}

function namesOf({ kind, urlVariable, versions }: MysqlKind, hasDocker: boolean): MysqlServerName[] {
  if (connectionStringIn(urlVariable, {}) !== undefined) return [kind];
  const older = versions.slice(1).filter(({ debian }) => hasDocker || debian !== undefined);
  return [kind, ...older.map(({ version }): MysqlServerName => `${kind}:${version}`)];
}

function answersDocker(): Promise<boolean> {
  return requireDockerEngine().then(
    () => true,
    () => false,
  );
}

export function isMysqlServerName(text: string): text is MysqlServerName {
  return kinds.some(
    ({ kind }) => text === kind || (text.startsWith(`${kind}:`) && text.length > kind.length + 1),
  );
}

export function kindOf(name: MysqlServerName): MysqlKind['kind'] {
  return name.startsWith(mysqlKind.kind) ? 'mysql' : 'mariadb';
}

/** `startMysql` or `startMariadb`, by a name. */
export function startMysqlServer(name: MysqlServerName, options: MysqlOptions = {}): Promise<MysqlServer> {
  const { kind, version } = partsOf(name);
  return startServerOfKind(kind, version === undefined ? options : { version, ...options });
}

/** Gets onto this machine what all of `mysqlServersOfRun` need, which may take minutes the first time. */
export async function prepareMysqlServersOfRun(): Promise<void> {
  const parts = (await mysqlServersOfRun()).map(partsOf);
  await Promise.all(parts.map(({ kind, version }) => prepareServerOfKind(kind, version)));
}

function partsOf(name: MysqlServerName): { kind: MysqlKind; version: string | undefined } {
  const [, version] = name.split(':');
  return { kind: kindOf(name) === 'mysql' ? mysqlKind : mariadbKind, version };
}
