import { createHash, randomInt } from 'node:crypto';
import mysql, { type ConnectionOptions } from 'mysql2';
import { connectError } from './connect-errors.js';
import { Session } from './session.js';

/**
 * Values are read as the server's own text: dates are not turned into Date objects (they lose microseconds and
 * zero dates), big numbers not into doubles, JSON not into objects.
 */
const LOSSLESS = {
  dateStrings: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
  jsonStrings: true,
  decimalNumbers: false,
  timezone: 'Z',
  charset: 'utf8mb4',
} as const;

/** Session settings that decide how values are printed, and limits that would end a long snapshot. */
const SESSION = [
  "set session time_zone = '+00:00'",
  "set session sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
  'set session wait_timeout = 31536000',
  'set session net_write_timeout = 3600',
] as const;

export interface Connector {
  /** `host:port`, without credentials. */
  readonly target: string;
  readonly options: ConnectionOptions;
  /** A session for queries. Rejects with a MysqlSourceError, and with the signal's reason once that aborts. */
  connect(): Promise<Session>;
}

export interface Timeouts {
  /** Milliseconds to connect. */
  readonly connectTimeout: number;
  /** Milliseconds without a word from the server after which a connection is given up. */
  readonly silenceTimeout: number;
}

export function createConnector(
  config: ConnectionOptions,
  { connectTimeout, silenceTimeout }: Timeouts,
  signal: AbortSignal,
): Connector {
  const options: ConnectionOptions = { ...config, ...LOSSLESS, connectTimeout, enableKeepAlive: true };
  const target = config.socketPath ?? `${config.host ?? 'localhost'}:${String(config.port ?? 3306)}`;
  return {
    target,
    options,
    async connect() {
      signal.throwIfAborted();
      const session = new Session(mysql.createConnection(options).promise(), silenceTimeout);
      const abort = (): void => {
        session.destroy();
      };
      signal.addEventListener('abort', abort, { once: true });
      try {
        await session.opened();
        for (const sql of SESSION) await session.run(sql, connectTimeout);
        return session;
      } catch (cause) {
        session.destroy();
        signal.throwIfAborted();
        throw connectError(cause, target);
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
  };
}

/** Runs something on a session of its own. */
export async function withSession<T>(connector: Connector, work: (sql: Session) => Promise<T>): Promise<T> {
  const sql = await connector.connect();
  try {
    return await work(sql);
  } finally {
    sql.destroy();
  }
}

/** Rows of a query as records of text. */
export async function queryRows(
  session: Session,
  sql: string,
  values: readonly (string | number)[] = [],
  deadline?: number,
): Promise<Record<string, string | null>[]> {
  const rows = await session.query({ sql: withValues(sql, values) }, deadline);
  return rows as Record<string, string | null>[];
}

/**
 * Rows of a query as the bytes that the server sends, null for NULL.
 *
 * @param deadline milliseconds; by default the session's, and with Infinity there is none
 */
export async function queryBytes(
  session: Session,
  sql: string,
  deadline?: number,
): Promise<(Buffer | null)[][]> {
  const rows = await session.query({ sql, typeCast: false, rowsAsArray: true }, deadline);
  return rows as (Buffer | null)[][];
}

/** The library's own escaping writes backslashes, which are no escapes in these sessions. */
function withValues(sql: string, values: readonly (string | number)[]): string {
  let index = 0;
  return sql.replaceAll('?', () => {
    const value = values[index];
    index += 1;
    return typeof value === 'number' ? String(value) : quoteText(value ?? '');
  });
}

/** A string literal, with NO_BACKSLASH_ESCAPES. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A replica id from a name: the upper half of the range, where people's own servers seldom are. */
export function derivedServerId(name: string): number {
  const hash = createHash('sha256').update(name).digest();
  return (hash.readUInt32BE(0) | 0x8000_0000) >>> 0;
}

/** A replica id for one reading beside an owner: two with one id throw each other out. */
export function randomServerId(owner: number): number {
  const id = randomInt(0x8000_0000, 0x1_0000_0000);
  return id === owner ? randomServerId(owner) : id;
}

/** An SQL identifier, with ANSI_QUOTES. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
