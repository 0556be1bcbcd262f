import { describeConfigIssues } from '@strandline/core';
import { parseIntoClientConfig } from 'pg-connection-string';
import { z } from 'zod';
import type { ConnectionConfig } from './connection.js';
import { postgresError } from './errors.js';
import { PRESETS, type OutboxPreset } from './presets.js';

/** A row as a key function sees it: every column by name, as the server's own text, null for NULL. */
export type OutboxRow = Readonly<Record<string, string | null>>;

/** Which table is the outbox, and which of its columns means what. */
export interface OutboxTableOptions {
  /** Fills in what is not given here: `debezium` or `strandline`. */
  readonly preset?: OutboxPreset;
  /** `outbox` (found on the search path) or `schema.outbox`; exact, not folded to lower case. */
  readonly table?: string;
  readonly id?: string;
  /** One column, several, or a function of the row. A key of several columns is the JSON array of their texts. */
  readonly key?: string | readonly string[] | ((row: OutboxRow) => string | null);
  readonly type?: string;
  readonly payload?: string;
  /** A json or jsonb column with an object in it. */
  readonly headers?: string;
  /** More columns for `event.columns`. */
  readonly columns?: readonly string[];
  /**
   * The order in which `start: 'snapshot'` reads the rows that are already there; the id when it is an integer.
   * The table does not know the commit order of old rows, so name the columns that come closest.
   */
  readonly snapshotOrder?: readonly string[];
}

/**
 * A tableless outbox: events written with `pg_logical_emit_message(true, prefix, content)`. The content is a
 * JSON object; these name its fields.
 */
export interface OutboxMessageOptions {
  readonly prefix: string;
  /** Default `id`. */
  readonly id?: string;
  /** Default `key`. */
  readonly key?: string;
  /** Default `type`. */
  readonly type?: string;
  /** Default `payload`. */
  readonly payload?: string;
  /** Default `headers`. */
  readonly headers?: string;
}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, to the server itself and not to a pooler. */
  readonly url?: string;
  /** Instead of `url`: what the `pg` client takes. */
  readonly connection?: ConnectionConfig;
  readonly outbox?: OutboxTableOptions;
  readonly messages?: OutboxMessageOptions;
  /**
   * Where a pipeline that never ran before starts: with what commits from `now` on (default), or with the rows
   * that are in the table already (`snapshot`) and then what commits.
   */
  readonly start?: 'now' | 'snapshot';
  /** Default `strandline_<pipeline>`. */
  readonly slot?: string;
  /** Default `strandline_<pipeline>`. */
  readonly publication?: string;
  /** Create the publication and the slot on the first start (default), or only check them. */
  readonly create?: boolean;
  /**
   * `committed` (default): an event is handed out once other sessions can see its transaction. `logged`: at
   * once; a handler that reads the database may not find yet what it was told about.
   */
  readonly visibility?: 'committed' | 'logged';
  /** A row without a key: stop with an error (`reject`, default), or give it a strand of its own (`unordered`). */
  readonly nullKey?: 'reject' | 'unordered';
  /** When another process of this pipeline owns the slot: wait as a standby (default), or fail. */
  readonly standby?: 'wait' | 'fail';
  /** Milliseconds to connect, default 10,000. */
  readonly connectTimeout?: number;
  /** Milliseconds without a word from the server after which a connection is given up, default 30,000. */
  readonly silenceTimeout?: number;
  /** Milliseconds; defaults 100 and 10,000. */
  readonly reconnect?: { readonly initialDelay?: number; readonly maxDelay?: number };
}

export interface OutboxTable {
  readonly table: string;
  readonly id: string;
  readonly key: string | readonly string[] | ((row: OutboxRow) => string | null);
  readonly type: string | undefined;
  readonly payload: string | undefined;
  readonly headers: string | undefined;
  readonly columns: readonly string[];
  readonly snapshotOrder: readonly string[] | undefined;
}

export type OutboxMessages = Required<OutboxMessageOptions>;

/** Validated, with every default filled in. */
export interface PostgresConfig {
  readonly connection: ConnectionConfig;
  readonly outbox: OutboxTable | null;
  readonly messages: OutboxMessages | null;
  readonly start: 'now' | 'snapshot';
  readonly slot: string | null;
  readonly publication: string | null;
  readonly create: boolean;
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
  .max(63, 'must be a name of at most 63 bytes');
const keyFunction = z.custom<(row: OutboxRow) => string | null>((value) => typeof value === 'function');

const outboxSchema = z.strictObject({
  table: z
    .string('must name the outbox table, such as outbox or shop.outbox')
    .regex(/^[^.\0]{1,63}(\.[^.\0]{1,63})?$/, 'must be a table name, or schema.table'),
  id: column,
  key: z.union([column, z.array(column).min(1).max(32), keyFunction], {
    error: 'must be a column, a list of up to 32 columns, or a function of the row',
  }),
  type: column.optional(),
  payload: column.optional(),
  headers: column.optional(),
  columns: z.array(column).max(1_600).default([]),
  snapshotOrder: z.array(column).min(1).max(32).optional(),
});

const messagesSchema = z.strictObject({
  prefix: z.string().min(1),
  id: z.string().min(1).default('id'),
  key: z.string().min(1).default('key'),
  type: z.string().min(1).default('type'),
  payload: z.string().min(1).default('payload'),
  headers: z.string().min(1).default('headers'),
});

const schema = z
  .strictObject({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must look like postgres://user@host:5432/database')
      .optional(),
    connection: z.custom<ConnectionConfig>((value) => typeof value === 'object' && value !== null).optional(),
    outbox: outboxSchema.nullable().default(null),
    messages: messagesSchema.nullable().default(null),
    start: z.enum(['now', 'snapshot']).default('now'),
    // The server's own rule for slot names (replication slots, ReplicationSlotValidateName).
    slot: z
      .string()
      .regex(/^[a-z0-9_]{1,63}$/, 'must be 1 to 63 of a-z, 0-9 and _')
      .nullable()
      .default(null),
    publication: z.string().min(1).max(63).nullable().default(null),
    create: z.boolean().default(true),
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
  })
  .refine((config) => config.outbox !== null || config.messages !== null, {
    path: ['outbox'],
    error: 'name the outbox table, or messages for a tableless outbox',
  });

/** Validates the options and fills in the defaults; throws `PG_CONFIG` with field, value and rule. */
export function parsePostgresOptions(options: PostgresOptions): PostgresConfig {
  const input = isRecord(options) ? { ...options, outbox: withPreset(options['outbox']) } : options;
  const result = schema.safeParse(input);
  if (!result.success) {
    throw postgresError(
      'PG_CONFIG',
      describeConfigIssues('postgres', input, result.error.issues),
      'Correct the options of postgres({ … }).',
    );
  }
  const { url, connection, outbox, ...rest } = result.data;
  return Object.freeze({
    ...rest,
    connection: connection ?? connectionOf(url ?? ''),
    outbox: outbox && {
      ...outbox,
      type: outbox.type,
      payload: outbox.payload,
      headers: outbox.headers,
      snapshotOrder: outbox.snapshotOrder,
    },
  });
}

function withPreset(outbox: unknown): unknown {
  if (!isRecord(outbox)) return outbox;
  const { preset, ...given } = outbox;
  if (preset === undefined) return given;
  if (typeof preset === 'string' && Object.hasOwn(PRESETS, preset))
    return { ...PRESETS[preset as OutboxPreset], ...given };
  const message = `must be one of ${Object.keys(PRESETS).join(', ')}`;
  throw postgresError(
    'PG_CONFIG',
    describeConfigIssues('postgres', { outbox }, [{ path: ['outbox', 'preset'], message }]),
    'Correct it, or name the columns yourself.',
  );
}

function connectionOf(url: string): ConnectionConfig {
  try {
    // pg-connection-string knows sslmode, sslrootcert and the rest of what libpq's URLs may hold.
    return parseIntoClientConfig(url);
  } catch (cause) {
    // Its message may quote the URL, and with it the password: the cause stays, the message is ours.
    throw postgresError(
      'PG_CONFIG',
      'postgres.url can not be read as a connection string.',
      'Write it as postgres://user:password@host:5432/database, with special characters percent-encoded.',
      { cause: cause instanceof Error ? new Error(cause.name) : undefined },
    );
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
