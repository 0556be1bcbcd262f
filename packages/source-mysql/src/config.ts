import { describeConfigIssues } from '@strandline/core';
import {
  outboxSchema,
  readerFields,
  type OutboxTable,
  type OutboxTableOptions,
  type ReaderConfig,
  type ReaderOptions,
} from '@strandline/source-kit';
import type { ConnectionOptions } from 'mysql2';
import { z } from 'zod';
import { mysqlError } from './errors.js';

export interface MysqlOptions extends ReaderOptions {
  /** `mysql://user:password@host:port/database`. */
  readonly url?: string;
  /** Instead of `url`: what mysql2 takes. */
  readonly connection?: ConnectionOptions;
  readonly outbox: OutboxTableOptions;
  /**
   * Where a pipeline without a saved offset starts: with what commits from `now` on, with all that the binlog still has
   * (`earliest`), or with the rows that are in the table (`snapshot`) and then what commits. Without it such a pipeline
   * does not start: a binlog knows nothing of its readers, so an offset that was lost looks like a first run, and to
   * start with what commits now would leave out all that came since. Take `now` out again after the first start.
   */
  readonly start?: 'now' | 'earliest' | 'snapshot';
  /** The replica id of this reader; by default derived from the pipeline's name. */
  readonly serverId?: number;
  /**
   * `full` (default) requires binlog_row_metadata = FULL, with which the log names its columns itself.
   * `minimal` reads the names from the table as it is today and checks the layout at each table map.
   */
  readonly metadata?: 'full' | 'minimal';
  /**
   * Of XA transactions that are prepared and not decided when the pipeline first starts, and commit later, the rows lie
   * before the start. `refuse` (default): do not start with `now` or `snapshot` while there are any, or while the user
   * may not see whether there are (`xa_recover_admin` on MySQL; MariaDB shows them to everyone). `ignore`: do not look,
   * for servers of which it is known that nobody uses XA; what such transactions insert is not delivered.
   */
  readonly undecidedXa?: 'refuse' | 'ignore';
}

/** Validated, with every default filled in. */
export interface MysqlConfig extends ReaderConfig {
  readonly connection: ConnectionOptions;
  readonly outbox: OutboxTable;
  /** Null: a pipeline without an offset does not start. */
  readonly start: 'now' | 'earliest' | 'snapshot' | null;
  readonly serverId: number | null;
  readonly metadata: 'full' | 'minimal';
  readonly undecidedXa: 'refuse' | 'ignore';
}

const outbox = outboxSchema({
  name: 64,
  unit: 'characters',
  qualifier: 'database',
  columns: 4_096,
  // An index has no more parts.
  keyColumns: 16,
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
    outbox,
    start: z.enum(['now', 'earliest', 'snapshot']).nullable().default(null),
    serverId: z.number().int().min(1).max(0xffff_ffff).nullable().default(null),
    metadata: z.enum(['full', 'minimal']).default('full'),
    undecidedXa: z.enum(['refuse', 'ignore']).default('refuse'),
    ...readerFields,
  })
  .refine((config) => (config.url === undefined) !== (config.connection === undefined), {
    path: ['url'],
    error: 'give either url or connection',
  });

/** Validates the options and fills in the defaults; throws `MYSQL_CONFIG` with field, value and rule. */
export function parseMysqlOptions(options: MysqlOptions): MysqlConfig {
  const result = schema.safeParse(options);
  if (!result.success) {
    throw mysqlError(
      'MYSQL_CONFIG',
      describeConfigIssues('mysql', options, result.error.issues),
      'Correct the options of mysql({ … }).',
    );
  }
  const { url, connection, ...rest } = result.data;
  return Object.freeze({ ...rest, connection: connection ?? connectionOf(url ?? '') });
}

/** Throws `MYSQL_CONFIG` for a text that is none, which is not in the message. */
export function connectionOf(url: string): ConnectionOptions {
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
