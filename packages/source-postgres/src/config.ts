import { describeConfigIssues } from '@strandline/core';
import { parseIntoClientConfig } from 'pg-connection-string';
import {
  outboxSchema,
  readerFields,
  type OutboxTable,
  type OutboxTableOptions,
  type ReaderConfig,
  type ReaderOptions,
} from '@strandline/source-kit';
import { z } from 'zod';
import type { ConnectionConfig } from './connection.js';
import { postgresError } from './errors.js';
import type { RetentionConfig } from './retention/retention.js';

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

/**
 * How long settled log is kept, for bookmarks and replays: at least one of the two. The server's disk must have room for
 * twice as much, since it lets go of its log in steps, and a restart reads through what is kept before it delivers.
 */
export interface RetentionOptions {
  /**
   * At most so many bytes of log between what is released and its end, whatever the age; counted every two seconds. Without
   * an age, so many are kept.
   */
  readonly bytes?: number;
  /** Milliseconds for which a saved offset is held back; a restart counts anew. */
  readonly age?: number;
}

export interface PostgresOptions extends ReaderOptions {
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
  /** Keeps settled log for bookmarks and replays; by default nothing is kept. */
  readonly retention?: RetentionOptions;
}

export type OutboxMessages = Required<OutboxMessageOptions>;

/** Validated, with every default filled in. */
export interface PostgresConfig extends ReaderConfig {
  readonly connection: ConnectionConfig;
  readonly outbox: OutboxTable | null;
  readonly messages: OutboxMessages | null;
  readonly start: 'now' | 'snapshot';
  readonly slot: string | null;
  readonly publication: string | null;
  readonly create: boolean;
  readonly retention: RetentionConfig | null;
}

const outbox = outboxSchema({ name: 63, unit: 'bytes', qualifier: 'schema', columns: 1_600, keyColumns: 32 });

const messagesSchema = z.strictObject({
  prefix: z.string().min(1),
  id: z.string().min(1).default('id'),
  key: z.string().min(1).default('key'),
  type: z.string().min(1).default('type'),
  payload: z.string().min(1).default('payload'),
  headers: z.string().min(1).default('headers'),
});

const retentionSchema = z
  .strictObject({
    bytes: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).nullable().default(null),
    age: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).nullable().default(null),
  })
  .refine(
    ({ bytes, age }) => bytes !== null || age !== null,
    'must say how many bytes, or what age in milliseconds',
  );

const schema = z
  .strictObject({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must look like postgres://user@host:5432/database')
      .optional(),
    connection: z.custom<ConnectionConfig>((value) => typeof value === 'object' && value !== null).optional(),
    outbox: outbox.nullable().default(null),
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
    retention: retentionSchema.nullable().default(null),
    ...readerFields,
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
  const result = schema.safeParse(options);
  if (!result.success) {
    throw postgresError(
      'PG_CONFIG',
      describeConfigIssues('postgres', options, result.error.issues),
      'Correct the options of postgres({ … }).',
    );
  }
  const { url, connection, ...rest } = result.data;
  return Object.freeze({ ...rest, connection: connectionOf({ connectionString: url, ...connection }) });
}

/**
 * The fields of a connection string as the fields that they are: left to the client, those of the string would win
 * over the settings and the name that our sessions must have.
 */
function connectionOf({ connectionString, ...connection }: ConnectionConfig): ConnectionConfig {
  if (connectionString === undefined) return connection;
  try {
    // pg-connection-string knows sslmode, sslrootcert and the rest of what libpq's URLs may hold.
    return { ...connection, ...parseIntoClientConfig(connectionString) };
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
