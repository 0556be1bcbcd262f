import type pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import type { Dialect, Link, Question, Session, TableNames, Trouble } from './dialect.js';
import { configError } from './errors.js';
import { insertInto } from './insert.js';
import type { Timeouts } from './options.js';
import { VERSION } from './tables.js';

/** SQLSTATEs and classes of them: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const TROUBLES: readonly (readonly [RegExp, Trouble])[] = [
  [/^40/, 'again'],
  [/^25006/, 'read-only'],
  [/^(28|3D000|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY)/, 'login'],
  [/^(42P01|3F000)/, 'missing'],
  [/^42501/, 'forbidden'],
  [/^(42703|42804|23502)/, 'shape'],
  // Lost connections, full resources, lock and statement timeouts, shutdowns, the disk; and errors of sockets.
  [/^(08|53|55|57|58|XX|25P03|E[A-Z]+$)/, 'away'],
];

export class Postgres implements Dialect {
  readonly name: string;
  readonly begin: string;
  /** Two sessions that make the same table at once would meet in the catalog. */
  readonly lockDdl = "select pg_advisory_xact_lock(hashtext('strandline dead letters'))";
  readonly #config: pg.ClientConfig;

  constructor(config: pg.ClientConfig, { connectTimeout, statementTimeout }: Timeouts) {
    this.#config = {
      application_name: 'strandline dead-letters',
      ...config,
      connectionTimeoutMillis: connectTimeout,
      keepAlive: true,
    };
    const { host = 'localhost', port = 5432, database = '' } = config;
    this.name = `postgres://${host}:${String(port)}/${database}`;
    const limit = String(statementTimeout);
    // What is stored here is settled, and the log may be released behind it: the commit must be on the disk. And a
    // session whose client is gone without a word must not keep the locks.
    this.begin = `begin isolation level read committed read write;
      set local statement_timeout = ${limit}; set local lock_timeout = ${limit};
      set local idle_in_transaction_session_timeout = ${limit};
      select set_config('synchronous_commit', case current_setting('synchronous_commit')
        when 'off' then 'on' else current_setting('synchronous_commit') end, true)`;
  }

  async link(): Promise<Link> {
    const { PostgresLink } = await import('./postgres-link.js');
    return new PostgresLink(this.#config);
  }

  quoteName(name: string): string {
    return `"${name.replaceAll('"', '""')}"`;
  }

  findTable(schema: string | null, name: string): Question {
    const parts = [...(schema === null ? [] : [schema]), name];
    const sql = 'select 1 as found where to_regclass(?::text) is not null';
    return { sql, values: [parts.map((part) => this.quoteName(part)).join('.')] };
  }

  mayCreate(schema: string | null): Question & { readonly isCertain: boolean } {
    const sql = `select count(*) as may from pg_namespace
      where nspname = coalesce(?::text, current_schema()) and has_schema_privilege(oid, 'create')`;
    return { sql, values: [schema], isCertain: true };
  }

  insertNew(table: string, columns: readonly string[], rows: number): string {
    return `${insertInto(table, columns, rows)} on conflict do nothing`;
  }

  copyNothing(table: string): string {
    return `insert into ${table} overriding system value select * from ${table} where 1 = 0`;
  }

  equals(column: string): string {
    return `${column} = ?`;
  }

  async checkDatabase(session: Session): Promise<string | null> {
    const { rows } = await session.run("select current_setting('server_encoding') as encoding");
    const encoding = String(rows[0]?.['encoding']);
    return encoding === 'UTF8' ? null : `it has the encoding ${encoding}, and only UTF8 holds every text`;
  }

  ddl({ letters, keys, owners, prefix }: TableNames): readonly string[] {
    return [
      `create table if not exists ${letters} (
  id bigint generated always as identity primary key,
  pipeline bigint not null,
  identity_hash bytea not null,
  key_hash bytea not null,
  place bigint not null,
  state text collate "C" not null,
  reason text not null,
  parked_at text collate "C" not null,
  event_key text not null,
  event_id text not null,
  event_type text,
  payload text,
  payload_format text not null,
  headers text,
  extra_columns text not null,
  log_position text not null,
  event_table text not null,
  transaction_id text not null,
  ordinal bigint not null,
  commit_time text not null,
  bytes bigint not null,
  handled_in bigint,
  error_name text,
  error_message text,
  error_code text,
  error_stack text,
  attempts bigint,
  first_failed_at text,
  last_failed_at text,
  failure_history text
)`,
      `create unique index if not exists ${prefix}dead_letters_identity on ${letters} (identity_hash)`,
      `create index if not exists ${prefix}dead_letters_of_key on ${letters} (key_hash, state, place)`,
      `create index if not exists ${prefix}dead_letters_state on ${letters} (pipeline, state, id)`,
      `create table if not exists ${keys} (
  pipeline bigint not null,
  key_hash bytea not null,
  event_key text not null,
  waiting bigint not null,
  release_at text collate "C",
  primary key (pipeline, key_hash)
)`,
      `create index if not exists ${prefix}parked_keys_release on ${keys} (pipeline, release_at)`,
      `create table if not exists ${owners} (
  id bigint generated always as identity primary key,
  pipeline_hash bytea not null unique,
  pipeline_name text not null,
  version integer not null default ${String(VERSION)},
  epoch bigint not null default 0,
  running integer not null default 0,
  watermark text,
  crashes bigint not null default 0,
  crash_suspect text,
  suspect text,
  held bigint not null default 0,
  first_place bigint not null default 1,
  next_place bigint not null default 1
)`,
    ];
  }

  trouble(error: unknown): Trouble {
    const { code } = error as { readonly code?: unknown };
    // The library's own errors have none: they tell of a connection that ended.
    if (typeof code !== 'string') return 'away';
    return TROUBLES.find(([codes]) => codes.test(code))?.[1] ?? 'refused';
  }
}

/** @throws LettersError `LETTERS_CONFIG`, without the URL in it. */
export function postgresConfig(url: string): pg.ClientConfig {
  try {
    // It knows sslmode, sslrootcert and the rest of what libpq's URLs may hold.
    return parseIntoClientConfig(url);
  } catch {
    // The cause may quote the URL, and with it the password.
    throw configError(
      'deadLetters.postgres.url can not be read as a connection string: write it as postgres://user:password@host:5432/database, with special characters percent-encoded.',
    );
  }
}
