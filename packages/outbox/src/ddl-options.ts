import { z } from 'zod';
import { DIALECTS, tableName, type Dialect, type TableName } from './dialect.js';
import { parsed, PRESET_TABLE } from './options.js';

export interface DdlOptions {
  readonly dialect: Dialect;
  /** Default `strandline_outbox`; or `schema.table` (MySQL: `database.table`). Exact, not folded to lower case. */
  readonly table?: string;
  /** By the day of `created_at` in UTC. Default false. */
  readonly partitioned?: boolean;
}

/** Names of partitions and indexes are made from the table's, and Postgres cuts them at 63 bytes. */
const LONGEST_NAME = 50;

const part = '[^.\\0?]+';

const tableSchema = z
  .string()
  .regex(new RegExp(`^${part}(\\.${part})?$`), 'must be the name of a table, or schema.table')
  .refine(
    (table) => table.split('.').every((name) => Buffer.byteLength(name) <= LONGEST_NAME),
    `must have names of at most ${String(LONGEST_NAME)} bytes`,
  )
  .default(PRESET_TABLE);

const ddlSchema = z.strictObject({
  dialect: z.enum(DIALECTS),
  table: tableSchema,
  partitioned: z.boolean().default(false),
});

const partitionsSchema = z.strictObject({
  table: tableSchema,
  days: z.number().int().min(0, 'must be 0 or more').max(366, 'must be a year at most').default(7),
});

/** @throws OutboxError `OUTBOX_CONFIG` */
export function validDdl(options: DdlOptions): {
  readonly dialect: Dialect;
  readonly table: TableName;
  readonly partitioned: boolean;
} {
  const { table, ...rest } = parsed(ddlSchema, options);
  return { ...rest, table: tableName(table) };
}

/** @throws OutboxError `OUTBOX_CONFIG` */
export function validPartitions(options: { readonly table?: string; readonly days?: number }): {
  readonly table: TableName;
  readonly days: number;
} {
  const { table, days } = parsed(partitionsSchema, options);
  return { table: tableName(table), days };
}
