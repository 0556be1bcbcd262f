import type { ConnectionOptions } from 'mysql2';
import type { Dialect, Link, Question, TableNames, Trouble } from './dialect.js';
import { configError } from './errors.js';
import { insertInto } from './insert.js';
import type { Timeouts } from './options.js';
import { VERSION } from './tables.js';

/** https://dev.mysql.com/doc/mysql-errors/9.0/en/server-error-reference.html */
const TROUBLES: Readonly<Record<number, Trouble>> = {
  1213: 'again', // ER_LOCK_DEADLOCK
  3101: 'again', // ER_TRANSACTION_ROLLBACK_DURING_COMMIT
  1290: 'read-only', // ER_OPTION_PREVENTS_STATEMENT
  1792: 'read-only', // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  1836: 'read-only', // ER_READ_ONLY_MODE
  1045: 'login', // ER_ACCESS_DENIED_ERROR
  1251: 'login', // ER_NOT_SUPPORTED_AUTH_MODE
  1049: 'missing', // ER_BAD_DB_ERROR
  1146: 'missing', // ER_NO_SUCH_TABLE
  1046: 'missing', // ER_NO_DB_ERROR
  1044: 'forbidden', // ER_DBACCESS_DENIED_ERROR
  1142: 'forbidden', // ER_TABLEACCESS_DENIED_ERROR
  1143: 'forbidden', // ER_COLUMNACCESS_DENIED_ERROR
  1227: 'forbidden', // ER_SPECIFIC_ACCESS_DENIED_ERROR
  1054: 'shape', // ER_BAD_FIELD_ERROR
  1364: 'shape', // ER_NO_DEFAULT_FOR_FIELD
  1136: 'shape', // ER_WRONG_VALUE_COUNT_ON_ROW
};

/** What comes right by itself: connections, shutdowns, waits for locks, full disks. */
const AWAY = new Set([
  ...[1021, 1040, 1041, 1047, 1053, 1077, 1078, 1079, 1080, 1114, 1129, 1152, 1154, 1158, 1159, 1160, 1161],
  ...[1203, 1205, 1206, 1226, 1317, 1927, 3024, 3168, 3169, 3572, 4031],
]);

const TEXT = 'longtext character set utf8mb4 collate utf8mb4_bin';
const WORD = 'varchar(30) character set ascii collate ascii_bin';

export class Mysql implements Dialect {
  readonly name: string;
  readonly begin = 'start transaction read write';
  readonly lockDdl = null;
  readonly #config: ConnectionOptions;
  readonly #session: readonly string[];

  constructor(config: ConnectionOptions, { connectTimeout, statementTimeout }: Timeouts) {
    this.#config = {
      ...config,
      connectTimeout,
      charset: 'utf8mb4',
      supportBigNumbers: true,
      bigNumberStrings: true,
      enableKeepAlive: true,
      multipleStatements: false,
    };
    this.name = `mysql://${config.socketPath ?? `${config.host ?? 'localhost'}:${String(config.port ?? 3306)}`}/${config.database ?? ''}`;
    const seconds = Math.ceil(statementTimeout / 1_000);
    this.#session = [
      // The default would lock the gaps between rows, where others insert.
      'set session transaction isolation level read committed',
      // A session whose client is gone without a word must not keep its locks. Values are escaped with backslashes.
      `set session autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
        innodb_lock_wait_timeout = ${String(seconds)}, wait_timeout = ${String(3 * seconds)}`,
    ];
  }

  async link(): Promise<Link> {
    const { MysqlLink } = await import('./mysql-link.js');
    return new MysqlLink(this.#config, this.#session);
  }

  quoteName(name: string): string {
    return `\`${name.replaceAll('`', '``')}\``;
  }

  findTable(schema: string | null, name: string): Question {
    const sql = `select 1 as found from information_schema.tables
      where table_schema = coalesce(?, database()) and table_name = ?`;
    return { sql, values: [schema, name] };
  }

  /** What comes by a role, or by a grant on a pattern of names, is not seen. */
  mayCreate(schema: string | null): Question & { readonly isCertain: boolean } {
    const grantee = "concat('''', replace(current_user(), '@', '''@'''), '''')";
    const sql = `select (select count(*) from information_schema.user_privileges
        where grantee = ${grantee} and privilege_type = 'CREATE')
      + (select count(*) from information_schema.schema_privileges
        where grantee = ${grantee} and privilege_type = 'CREATE' and table_schema = coalesce(?, database())) as may`;
    return { sql, values: [schema], isCertain: false };
  }

  insertNew(table: string, columns: readonly string[], rows: number): string {
    const [first = ''] = columns;
    // Not `insert ignore`, which would also cut what is too long.
    return `${insertInto(table, columns, rows)} on duplicate key update ${first} = ${first}`;
  }

  copyNothing(table: string): string {
    return `insert into ${table} select * from ${table} where 1 = 0`;
  }

  /** The collation takes no notice of blanks at the end. */
  equals(column: string): string {
    return `cast(${column} as binary) = cast(? as binary)`;
  }

  checkDatabase(): Promise<null> {
    return Promise.resolve(null);
  }

  ddl({ letters, keys, owners, prefix }: TableNames): readonly string[] {
    return [
      `create table if not exists ${letters} (
  id bigint not null auto_increment primary key,
  pipeline bigint not null,
  identity_hash binary(32) not null,
  key_hash binary(32) not null,
  place bigint not null,
  state ${WORD} not null,
  reason ${WORD} not null,
  parked_at ${WORD} not null,
  event_key ${TEXT} not null,
  event_id ${TEXT} not null,
  event_type ${TEXT},
  payload ${TEXT},
  payload_format ${WORD} not null,
  headers ${TEXT},
  extra_columns ${TEXT} not null,
  log_position ${TEXT} not null,
  event_table ${TEXT} not null,
  transaction_id ${TEXT} not null,
  ordinal bigint not null,
  commit_time ${TEXT} not null,
  bytes bigint not null,
  handled_in bigint,
  error_name ${TEXT},
  error_message ${TEXT},
  error_code ${TEXT},
  error_stack ${TEXT},
  attempts bigint,
  first_failed_at ${WORD},
  last_failed_at ${WORD},
  failure_history ${TEXT},
  unique key ${prefix}dead_letters_identity (identity_hash),
  key ${prefix}dead_letters_of_key (key_hash, state, place),
  key ${prefix}dead_letters_state (pipeline, state, id)
) engine = InnoDB row_format = dynamic`,
      `create table if not exists ${keys} (
  pipeline bigint not null,
  key_hash binary(32) not null,
  event_key ${TEXT} not null,
  waiting bigint not null,
  release_at ${WORD},
  primary key (pipeline, key_hash),
  key ${prefix}parked_keys_release (pipeline, release_at)
) engine = InnoDB row_format = dynamic`,
      `create table if not exists ${owners} (
  id bigint not null auto_increment primary key,
  pipeline_hash binary(32) not null unique,
  pipeline_name ${TEXT} not null,
  version int not null default ${String(VERSION)},
  epoch bigint not null default 0,
  running int not null default 0,
  watermark ${TEXT},
  crashes bigint not null default 0,
  crash_suspect ${TEXT},
  suspect ${TEXT},
  held bigint not null default 0,
  first_place bigint not null default 1,
  next_place bigint not null default 1
) engine = InnoDB row_format = dynamic`,
    ];
  }

  trouble(error: unknown): Trouble {
    const { errno, code } = error as { readonly errno?: unknown; readonly code?: unknown };
    // Errors of sockets have negative numbers, the library's own have a code and no number.
    if (typeof errno === 'number' && errno > 0)
      return TROUBLES[errno] ?? (AWAY.has(errno) ? 'away' : 'refused');
    if (
      typeof code === 'string' &&
      /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY|HANDSHAKE_)/.test(code)
    )
      return 'login';
    return 'away';
  }
}

/** @throws LettersError `LETTERS_CONFIG`, without the URL in it. */
export function mysqlConfig(text: string): ConnectionOptions {
  try {
    const { hostname, port, username, password, pathname, searchParams } = new URL(text);
    const ssl = searchParams.get('ssl');
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? 3306 : Number(port),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      ...(pathname.length > 1 ? { database: decodeURIComponent(pathname.slice(1)) } : {}),
      ...(ssl === null || ssl === 'false' ? {} : { ssl: { rejectUnauthorized: ssl !== 'insecure' } }),
    };
  } catch {
    // The cause would show the text, and with it the password.
    throw configError(
      'deadLetters.mysql.url can not be read as a connection string: write it as mysql://user:password@host:3306/database, with special characters percent-encoded.',
    );
  }
}
