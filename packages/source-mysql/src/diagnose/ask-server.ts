import { QUESTION_LIMIT, type Asking } from '@strandline/source-kit';
import { errnoOf } from '../connect-errors.js';
import { queryRows } from '../connection.js';
import { statusStatement } from '../server.js';
import type { Session } from '../session.js';
import { queryVariables } from '../variables.js';
import type { LockOwner, LogStatus, ReplicationState, ServerState } from './facts.js';
import { Grants } from './grants.js';
import { serviceOf, type Service } from './service.js';

const GLOBAL = [
  ...['version', 'version_comment', 'basedir', 'aurora_version', 'server_id', 'server_uuid', 'server_uid'],
  ...['log_bin', 'binlog_format', 'binlog_row_image', 'binlog_row_metadata', 'gtid_mode'],
  ...['enforce_gtid_consistency', 'read_only', 'super_read_only', 'log_replica_updates', 'log_slave_updates'],
  ...['binlog_expire_logs_seconds', 'expire_logs_days', 'binlog_expire_logs_auto_purge'],
  'max_binlog_total_size',
] as const;

const SESSION = ['wait_timeout', 'net_write_timeout', 'max_execution_time', 'max_statement_time'] as const;

/** What the server is, and as whom it knows us. */
export async function askServer(sql: Session, host: string): Promise<ServerState> {
  const askedAt = Date.now();
  const [row] = await queryRows(
    sql,
    `select current_user() as "user", cast(unix_timestamp(now(6)) * 1000 as char) as "now"`,
  );
  const answeredAt = Date.now();
  const variables = await queryVariables(sql, 'global', GLOBAL);
  const flavour = /mariadb/i.test(variables.get('version') ?? '') ? 'mariadb' : 'mysql';
  const session = await queryVariables(sql, 'session', SESSION);
  // Of itself, so that the session can be asked on.
  await sql.run(
    flavour === 'mariadb'
      ? `set session max_statement_time = ${String(QUESTION_LIMIT / 1_000)}`
      : `set session max_execution_time = ${String(QUESTION_LIMIT)}`,
  );
  return {
    ...{ flavour, host, variables, session },
    user: quotedUser(row?.['user'] ?? ''),
    clock: { askedAt, answeredAt, there: Number(row?.['now']) },
  };
}

/** `strandline@%` as GRANT has it. */
function quotedUser(user: string): string {
  const at = user.lastIndexOf('@');
  return `'${user.slice(0, at)}'@'${user.slice(at + 1)}'`;
}

export async function askService(
  sql: Session,
  asking: Asking,
  { host, variables }: Pick<ServerState, 'host' | 'variables'>,
): Promise<Service | null> {
  const asked = await asking.ask(() =>
    queryRows(
      sql,
      `select routine_name as name from information_schema.routines
       where routine_schema = 'mysql' and routine_name = 'rds_set_configuration'
       union all select table_name from information_schema.tables
       where table_schema = 'mysql' and table_name = 'rds_configuration'`,
    ),
  );
  const hasRdsConfiguration = 'answer' in asked && asked.answer.length > 0;
  return serviceOf({ host, variables, hasRdsConfiguration });
}

/** With what the active roles carry, which MySQL tells only when it is asked for them. */
export async function askGrants(sql: Session, { flavour }: Pick<ServerState, 'flavour'>): Promise<Grants> {
  const [row] = flavour === 'mariadb' ? [] : await queryRows(sql, 'select current_role() as "roles"');
  const roles = row?.['roles'] ?? 'NONE';
  const using = roles === 'NONE' ? '' : ` for current_user() using ${roles}`;
  const rows = await queryRows(sql, `show grants${using}`);
  return new Grants(rows.map((grant) => Object.values(grant)[0] ?? ''));
}

/** Null where the server has nothing to show, which is when its binlog is off. */
export async function askLog(
  sql: Session,
  { flavour, variables }: Pick<ServerState, 'flavour' | 'variables'>,
): Promise<LogStatus | null> {
  const [row] = await queryRows(sql, statusStatement({ flavour, version: variables.get('version') ?? '' }));
  if (row === undefined) return null;
  return { only: namesOf(row['Binlog_Do_DB']), without: namesOf(row['Binlog_Ignore_DB']) };
}

function namesOf(list: string | null | undefined): string[] {
  return (list ?? '').split(',').filter((name) => name !== '');
}

/** Errors that say the server has no such statement. */
const UNKNOWN = new Set([1064, 1193]);

export async function askReplication(sql: Session): Promise<ReplicationState> {
  const channels = await firstKnown(sql, [
    'show all slaves status',
    'show replica status',
    'show slave status',
  ]);
  const replicas = await firstKnown(sql, ['show replicas', 'show slave hosts']).catch(() => null);
  return {
    channels: channels.length,
    replicas: replicas?.map((row) => Number(row['Server_Id'] ?? row['Server_id'])) ?? null,
  };
}

/** Statements that changed their name: the first one that the server knows. */
async function firstKnown(
  sql: Session,
  statements: readonly string[],
): Promise<Record<string, string | null>[]> {
  for (const statement of statements) {
    try {
      return await queryRows(sql, statement);
    } catch (error) {
      if (!UNKNOWN.has(errnoOf(error))) throw error;
    }
  }
  return [];
}

/** docs.aws.amazon.com/AmazonRDS/latest/UserGuide/mysql-stored-proc-configuring.html */
export async function askKeptHours(sql: Session): Promise<number | null> {
  const [row] = await queryRows(
    sql,
    "select value as hours from mysql.rds_configuration where name = 'binlog retention hours'",
  );
  const hours = row?.['hours'] ?? null;
  return hours === null ? null : Number(hours);
}

export async function askOwner(sql: Session, lock: string): Promise<LockOwner | null> {
  const [row] = await queryRows(sql, 'select is_used_lock(?) as id', [lock]);
  const id = row?.['id'] ?? null;
  if (id === null) return null;
  const sessions = await queryRows(sql, 'show processlist');
  const session = sessions.find((one) => Number(one['Id']) === Number(id));
  const user = session === undefined ? null : `${session['User'] ?? '?'} at ${session['Host'] ?? '?'}`;
  return { connection: Number(id), user };
}
