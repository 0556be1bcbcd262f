import { describeConfigIssues } from '@strandline/core';
import type { ConnectionOptions } from 'mysql2';
import { z } from 'zod';
import { mysqlError } from './errors.js';
import type { PayloadFormat } from './event.js';
import { PRESETS, type OutboxPreset } from './presets.js';

/** A row as a key function sees it: every column by name, as canonical text, null for NULL. */
export type OutboxRow = Readonly<Record<string, string | null>>;

/** Which table is the outbox, and which of its columns means what. */
export interface MysqlOutboxOptions {
  /** Fills in what is not given here: `debezium` or `strandline`. */
  readonly preset?: OutboxPreset;
  /** `outbox` (in the connection's database) or `database.outbox`. */
  readonly table?: string;
  readonly id?: string;
  /** One column, several, or a function of the row. A key of several columns is the JSON array of their texts. */
  readonly key?: string | readonly string[] | ((row: OutboxRow) => string | null);
  readonly type?: string;
  readonly payload?: string;
  /** How `event.payload` is made; by the column's type when not given (MariaDB's JSON is a text column). */
  readonly payloadFormat?: PayloadFormat;
  readonly headers?: string;
  readonly columns?: readonly string[];
  /** The order in which `start: 'snapshot'` reads the rows that are there; the id when it is an integer. */
  readonly snapshotOrder?: readonly string[];
}

export interface MysqlOptions {
  /** `mysql://user:password@host:port/database`. */
  readonly url?: string;
  /** Instead of `url`: what mysql2 takes. */
  readonly connection?: ConnectionOptions;
  readonly outbox: MysqlOutboxOptions;
  /**
   * Where a pipeline that never ran before starts: with what commits from `now` on (default), with all that the
   * binlog still has (`earliest`), or with the rows that are in the table (`snapshot`) and then what commits.
   */
  readonly start?: 'now' | 'earliest' | 'snapshot';
  /** The replica id of this reader; by default derived from the pipeline's name. */
  readonly serverId?: number;
  /**
   * `full` (default) requires binlog_row_metadata = FULL, with which the log names its columns itself.
   * `minimal` reads the names from the table as it is today and checks the layout at each table map.
   */
  readonly metadata?: 'full' | 'minimal';
  readonly visibility?: 'committed' | 'logged';
  readonly nullKey?: 'reject' | 'unordered';
  readonly standby?: 'wait' | 'fail';
  readonly connectTimeout?: number;
  /** Milliseconds without a word from the server after which a connection is given up, default 30,000. */
  readonly silenceTimeout?: number;
  readonly reconnect?: { readonly initialDelay?: number; readonly maxDelay?: number };
}

export interface OutboxTable {
  readonly table: string;
  readonly id: string;
  readonly key: string | readonly string[] | ((row: OutboxRow) => string | null);
  readonly type: string | undefined;
  readonly payload: string | undefined;
  readonly payloadFormat: PayloadFormat | undefined;
  readonly headers: string | undefined;
  readonly columns: readonly string[];
  readonly snapshotOrder: readonly string[] | undefined;
}

/** Validated, with every default filled in. */
export interface MysqlConfig {
  readonly connection: ConnectionOptions;
  readonly outbox: OutboxTable;
  readonly start: 'now' | 'earliest' | 'snapshot';
  readonly serverId: number | null;
  readonly metadata: 'full' | 'minimal';
  readonly visibility: 'committed' | 'logged';
  readonly nullKey: 'reject' | 'unordered';
  readonly standby: 'wait' | 'fail';
  readonly connectTimeout: number;
  readonly silenceTimeout: number;
  readonly reconnect: { readonly initialDelay: number; readonly maxDelay: number };
}

const milliseconds = z.number().int().positive().max(2_147_483_647);
const column = z
  .string()
  .min(1, 'must be the name of a column')
  .max(64, 'must be a name of at most 64 characters');
const keyFunction = z.custom<(row: OutboxRow) => string | null>((value) => typeof value === 'function');

const outboxSchema = z.strictObject({
  table: z
    .string('must name the outbox table, such as outbox or shop.outbox')
    .regex(/^[^.\0]{1,64}(\.[^.\0]{1,64})?$/, 'must be a table name, or database.table'),
  id: column,
  key: z.union([column, z.array(column).min(1).max(32), keyFunction], {
    error: 'must be a column, a list of columns, or a function of the row',
  }),
  type: column.optional(),
  payload: column.optional(),
  payloadFormat: z.enum(['json', 'bytes', 'text']).optional(),
  headers: column.optional(),
  columns: z.array(column).max(4_096).default([]),
  snapshotOrder: z.array(column).min(1).max(16).optional(),
});

const schema = z
  .strictObject({
    url: z
      .string()
      .regex(/^mysql:\/\//, 'must look like mysql://user@host:3306/database')
      .optional(),
    connection: z
      .custom<ConnectionOptions>((value) => typeof value === 'object' && value !== null)
      .optional(),
    outbox: outboxSchema,
    start: z.enum(['now', 'earliest', 'snapshot']).default('now'),
    serverId: z.number().int().min(1).max(0xffff_ffff).nullable().default(null),
    metadata: z.enum(['full', 'minimal']).default('full'),
    visibility: z.enum(['committed', 'logged']).default('committed'),
    nullKey: z.enum(['reject', 'unordered']).default('reject'),
    standby: z.enum(['wait', 'fail']).default('wait'),
    connectTimeout: milliseconds.default(10_000),
    silenceTimeout: milliseconds.min(1_000).default(30_000),
    reconnect: z
      .strictObject({ initialDelay: milliseconds.default(100), maxDelay: milliseconds.default(10_000) })
      .default({ initialDelay: 100, maxDelay: 10_000 }),
  })
  .refine((config) => (config.url === undefined) !== (config.connection === undefined), {
    path: ['url'],
    error: 'give either url or connection',
  });

/** Validates the options and fills in the defaults; throws `MYSQL_CONFIG` with field, value and rule. */
export function parseMysqlOptions(options: MysqlOptions): MysqlConfig {
  const input: unknown = isRecord(options) ? { ...options, outbox: withPreset(options['outbox']) } : options;
  const result = schema.safeParse(input);
  if (!result.success) {
    throw mysqlError(
      'MYSQL_CONFIG',
      describeConfigIssues('mysql', input, result.error.issues),
      'Correct the options of mysql({ … }).',
    );
  }
  const { url, connection, outbox, ...rest } = result.data;
  return Object.freeze({
    ...rest,
    connection: connection ?? connectionOf(url ?? ''),
    outbox: {
      ...outbox,
      type: outbox.type,
      payload: outbox.payload,
      payloadFormat: outbox.payloadFormat,
      headers: outbox.headers,
      snapshotOrder: outbox.snapshotOrder,
    },
  });
}

function connectionOf(url: string): ConnectionOptions {
  try {
    return readUrl(new URL(url));
  } catch {
    // The cause would show the text, and with it the password.
    throw mysqlError(
      'MYSQL_CONFIG',
      'mysql.url can not be read as a connection string.',
      'Write it as mysql://user:password@host:3306/database, with special characters percent-encoded.',
    );
  }
}

function readUrl({ hostname, port, username, password, pathname, searchParams }: URL): ConnectionOptions {
  const ssl = searchParams.get('ssl');
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...(pathname.length > 1 ? { database: decodeURIComponent(pathname.slice(1)) } : {}),
    ...(ssl === null || ssl === 'false' ? {} : { ssl: { rejectUnauthorized: ssl !== 'insecure' } }),
  };
}

function withPreset(outbox: unknown): unknown {
  if (!isRecord(outbox)) return outbox;
  const { preset, ...given } = outbox;
  if (preset === undefined) return given;
  if (typeof preset === 'string' && Object.hasOwn(PRESETS, preset)) {
    return { ...PRESETS[preset as OutboxPreset], ...given };
  }
  throw mysqlError(
    'MYSQL_CONFIG',
    `mysql.outbox.preset is ${typeof preset === 'string' ? JSON.stringify(preset) : typeof preset}: there is no such preset.`,
    `Use one of ${Object.keys(PRESETS).join(', ')}, or name the columns yourself.`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
