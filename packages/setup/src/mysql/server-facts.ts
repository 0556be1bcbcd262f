import { setupError } from '../errors.js';
import type { Flavour } from '../facts.js';
import { parseGrants, type Grants } from './grants.js';
import type { Session } from './session.js';

export interface ServerFacts {
  readonly flavour: Exclude<Flavour, 'postgres'>;
  /** `9.7.4`, `10.11.6` */
  readonly version: string;
  readonly database: string;
  readonly user: string;
  /** Server variables by name, those that a pipeline depends on. */
  readonly variables: ReadonlyMap<string, string>;
  /** Of the user of this session. */
  readonly grants: Grants;
}

const VARIABLES = `show global variables where variable_name in ('version', 'log_bin', 'binlog_format',
  'binlog_row_image', 'binlog_row_metadata', 'gtid_mode', 'read_only', 'super_read_only')`;

/** Throws `SETUP_SERVER` for a server that can't serve a pipeline. */
export async function serverFacts(session: Session, target: string): Promise<ServerFacts> {
  const variables = new Map(
    (await session.rows(VARIABLES)).map((row) => [
      (row['Variable_name'] ?? '').toLowerCase(),
      row['Value'] ?? '',
    ]),
  );
  const text = variables.get('version') ?? '';
  const flavour = /mariadb/i.test(text) ? 'mariadb' : 'mysql';
  const version = /^[\d.]+/.exec(text)?.[0] ?? text;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = flavour === 'mariadb' ? major > 10 || (major === 10 && minor >= 6) : major >= 8;
  if (!fits)
    throw setupError(
      'SETUP_SERVER',
      `The server at ${target} is ${flavour === 'mariadb' ? 'MariaDB' : 'MySQL'} ${version}.`,
      'Strandline needs MySQL 8.0 or MariaDB 10.6, or newer.',
    );
  const [me = {}] = await session.rows('select database() as db, current_user() as user');
  return {
    flavour,
    version,
    database: me['db'] ?? '',
    user: (me['user'] ?? '').replace(/@[^@]*$/, ''),
    variables,
    grants: parseGrants(await grantLines(session, 'show grants')),
  };
}

export async function grantLines(session: Session, statement: string): Promise<string[]> {
  return (await session.rows(statement)).map((row) => Object.values(row)[0] ?? '');
}
