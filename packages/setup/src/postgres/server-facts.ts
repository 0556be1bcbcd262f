import { setupError } from '../errors.js';
import type { Row, Session } from './session.js';

/** Where a server is run for its users, and settings are changed otherwise. */
export type Service = 'rds' | 'cloudsql' | 'azure';

export interface ServerFacts {
  /** `18.4` */
  readonly version: string;
  /** server_version_num, such as 180004. */
  readonly versionNumber: number;
  readonly database: string;
  readonly schema: string;
  readonly user: string;
  readonly isSuperuser: boolean;
  readonly mayReplicate: boolean;
  readonly mayCreateRoles: boolean;
  /** Schemas and publications, in this database. */
  readonly mayCreateInDatabase: boolean;
  readonly walLevel: string;
  /** The files say `logical`, and the server was not restarted since; null where the user may not see it. */
  readonly walLevelPending: boolean | null;
  readonly slots: Room;
  readonly senders: Room;
  /** A pooler stands between. */
  readonly pooler: boolean;
  readonly service: Service | null;
}

export interface Room {
  readonly used: number;
  readonly max: number;
}

/** pg_current_snapshot and publish_via_partition_root are there from 14 on: what the source needs. */
const OLDEST_VERSION = 140_000;

const SETTINGS = `
  select current_setting('server_version') as version, current_setting('server_version_num') as "versionNumber",
    current_database() as database, current_schema() as schema, current_user as "user",
    pg_is_in_recovery()::text as standby, pg_backend_pid()::text as pid,
    current_setting('wal_level') as "walLevel",
    current_setting('max_replication_slots') as "maxSlots", (select count(*)::text from pg_replication_slots) as slots,
    current_setting('max_wal_senders') as "maxSenders", (select count(*)::text from pg_stat_replication) as senders,
    r.rolsuper::text as superuser, (r.rolreplication or r.rolsuper)::text as replicates,
    (r.rolcreaterole or r.rolsuper)::text as "createsRoles",
    has_database_privilege(current_database(), 'CREATE')::text as creates,
    case when exists (select from pg_settings where name = 'rds.logical_replication') then 'rds'
      when exists (select from pg_settings where name like 'cloudsql.%') then 'cloudsql'
      when exists (select from pg_settings where name like 'azure.%') then 'azure' end as service
  from pg_roles r where r.rolname = current_user`;

/** Throws `SETUP_SERVER` for a server that can't serve a pipeline. */
export async function serverFacts(session: Session, target: string): Promise<ServerFacts> {
  const [row = {}] = await session.rows(SETTINGS);
  const versionNumber = Number(row['versionNumber']);
  if (versionNumber < OLDEST_VERSION)
    throw setupError(
      'SETUP_SERVER',
      `Postgres at ${target} is version ${row['version'] ?? '?'}.`,
      'Strandline needs 14 or newer.',
    );
  if (row['standby'] === 'true')
    throw setupError(
      'SETUP_SERVER',
      `Postgres at ${target} is a standby in recovery.`,
      'Connect to the primary.',
    );
  const isSuperuser = row['superuser'] === 'true';
  return {
    version: (row['version'] ?? '').split(' ')[0] ?? '',
    versionNumber,
    database: row['database'] ?? '',
    schema: row['schema'] ?? 'public',
    user: row['user'] ?? '',
    isSuperuser,
    mayReplicate: row['replicates'] === 'true',
    mayCreateRoles: row['createsRoles'] === 'true',
    mayCreateInDatabase: row['creates'] === 'true',
    walLevel: row['walLevel'] ?? '',
    walLevelPending: isSuperuser ? await isWalLevelPending(session) : null,
    slots: room(row, 'slots', 'maxSlots'),
    senders: room(row, 'senders', 'maxSenders'),
    // A pooler makes up the number by which a query is cancelled, and the session behind it has its own.
    pooler: session.processId !== null && String(session.processId) !== row['pid'],
    service: (row['service'] ?? null) as Service | null,
  };
}

function room(row: Row, used: string, max: string): Room {
  return { used: Number(row[used]), max: Number(row[max]) };
}

async function isWalLevelPending(session: Session): Promise<boolean> {
  const [row] = await session.rows(
    `select setting from pg_file_settings where name = 'wal_level' order by seqno desc limit 1`,
  );
  return row?.['setting'] === 'logical';
}
