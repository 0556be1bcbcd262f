import type { StrandlineError } from '@strandline/core';
import { QUESTION_LIMIT, type Asking } from '@strandline/source-kit';
import pg from 'pg';
import { connectError } from '../connect-errors.js';
import { endClient, NO_TRANSACTION_LIMIT } from '../connection.js';
import { quoteName } from '../quote.js';
import { parseDuration } from '../server.js';
import type { SessionRequest } from '../session.js';
import type { PostgresFacts, ServerState } from './facts.js';
import { serviceOf, serviceOfHost, type Service } from './service.js';

const SETTINGS = [
  ...['wal_level', 'max_replication_slots', 'max_wal_senders', 'synchronous_standby_names'],
  ...['max_slot_wal_keep_size', 'idle_replication_slot_timeout', 'sync_replication_slots'],
  ...['statement_timeout', 'lock_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout'],
  'transaction_timeout',
] as const;

/** What the server is, and as whom it knows us. Settings are those of this session, before anything is set for it. */
export async function askServer(sql: pg.Client): Promise<ServerState> {
  const askedAt = Date.now();
  const { rows } = await sql.query<Record<string, string>>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as text,
            current_user as role, current_database() as database, pg_is_in_recovery()::text as recovery,
            pg_encoding_to_char(d.encoding) as encoding,
            has_database_privilege(current_database(), 'create')::text as "mayCreate",
            r.rolsuper::text as super, pg_has_role('pg_read_all_stats', 'usage')::text as "seesActivity",
            (extract(epoch from clock_timestamp()) * 1000)::text as now
     from pg_database d, pg_roles r where d.datname = current_database() and r.rolname = current_user`,
  );
  const answeredAt = Date.now();
  const settings = await sql.query<{ name: string; value: string }>(
    'select name, setting as value from pg_settings where name = any($1)',
    [SETTINGS],
  );
  // Of itself, so that the session can be asked on; pg's own limit would leave it busy.
  await sql.query(`set statement_timeout = ${String(QUESTION_LIMIT)}`);
  const row = rows[0] ?? {};
  return {
    version: Number(row['number']),
    versionText: row['text'] ?? '?',
    host: sql.host,
    port: sql.port,
    role: quoteName(row['role'] ?? ''),
    database: row['database'] ?? '',
    inRecovery: row['recovery'] === 'true',
    encoding: row['encoding'] ?? '?',
    settings: new Map(settings.rows.map(({ name, value }) => [name, value])),
    clock: { askedAt, answeredAt, there: Number(row['now']) },
    mayCreate: row['mayCreate'] === 'true',
    isSuperuser: row['super'] === 'true',
    seesActivity: row['seesActivity'] === 'true',
  };
}

const MANAGED_ROLES = [
  ...['rdsadmin', 'cloudsqlsuperuser', 'azure_pg_admin', 'supabase_admin', 'neon_superuser'],
] as const;
const MANAGED_SETTINGS = [
  ...['rds.logical_replication', 'cloudsql.logical_decoding', 'azure.extensions', 'neon.timeline_id'],
] as const;

/** Who runs the server. */
export async function askService(sql: pg.Client, asking: Asking): Promise<Service | null> {
  const asked = await asking.ask(() =>
    sql.query<{ roles: string[]; settings: string[]; aurora: boolean }>(
      `select array(select rolname::text from pg_roles where rolname = any($1)) as roles,
              array(select split_part(name, '.', 1) from unnest($2::text[]) as name
                    where current_setting(name, true) is not null) as settings,
              to_regprocedure('aurora_version()') is not null as aurora`,
      [MANAGED_ROLES, MANAGED_SETTINGS],
    ),
  );
  const row = 'answer' in asked ? asked.answer.rows[0] : undefined;
  if (row === undefined) return serviceOfHost(sql.host);
  return serviceOf({
    host: sql.host,
    roles: new Set(row.roles),
    settings: new Set(row.settings),
    aurora: row.aurora,
  });
}

/** Opens the session that the stream needs, as the pipeline would, and asks who is there. Nothing is streamed. */
export async function askReplication({
  connector,
}: Pick<SessionRequest, 'connector'>): Promise<PostgresFacts['replication']> {
  const client = new pg.Client({ ...connector.replicationConfig, query_timeout: QUESTION_LIMIT });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(NO_TRANSACTION_LIMIT);
    const { rows } = await client.query<Record<string, string>>('IDENTIFY_SYSTEM');
    const timeout = await client.query<Record<string, string>>('SHOW wal_sender_timeout');
    return {
      answer: {
        system: rows[0]?.['systemid'] ?? '',
        timeline: Number(rows[0]?.['timeline']),
        walSenderTimeout: parseDuration(timeout.rows[0]?.['wal_sender_timeout'] ?? '0'),
      },
    };
  } catch (cause) {
    const error: StrandlineError = connectError(cause, connector.target);
    const problem = error.message.slice(0, error.message.length - error.remedy.length).trim();
    return { code: error.code, problem, remedy: error.remedy };
  } finally {
    await endClient(client);
  }
}
