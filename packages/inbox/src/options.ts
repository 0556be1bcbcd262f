import { describeConfigIssues } from '@strandline/core';
import { z } from 'zod';
import { configError } from './errors.js';

export interface InboxOptions {
  /**
   * Whose records these are; default: the pipeline's name. Inboxes that may meet in one table, such as two effects of
   * one pipeline, need names of their own; an inbox that outlives its pipeline's name keeps its own. 1 to 50 of a-z,
   * 0-9, - and _.
   */
  readonly name?: string;
  /** `strandline_inbox`, or `schema.table` (MySQL: `database.table`); exact, not folded to lower case. */
  readonly table?: string;
  /** Default true: the table is made at the first use. False: only checked. */
  readonly create?: boolean;
  /**
   * Milliseconds that a record is kept at least, default one day. It goes when all that committed until so long after
   * it is settled and saved. It must be longer than a process can stand still (a suspended machine, say) with handlers
   * in flight and go on, and than the clocks of the two databases differ.
   */
  readonly keep?: number;
}

export interface TableName {
  /** Of Postgres; of MySQL the database. Null: that of the connection. */
  readonly schema: string | null;
  readonly name: string;
}

/** Validated, with every default filled in. */
export interface ValidOptions {
  readonly name: string | null;
  readonly table: TableName;
  readonly create: boolean;
  readonly keep: number;
}

/** Postgres cuts names at 63 bytes. The index has a longer one. */
const PART = '[^.\\0]{1,50}';
const DAY = 86_400_000;

const schema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,49}$/, 'must be 1 to 50 of a-z, 0-9, - and _')
    .nullable()
    .default(null),
  table: z
    .string()
    .regex(
      new RegExp(`^${PART}(\\.${PART})?$`),
      'must be the name of a table of up to 50 characters, or schema.table',
    )
    .default('strandline_inbox'),
  create: z.boolean().default(true),
  keep: z
    .number()
    .int()
    .min(1_000, 'must be at least 1000 ms')
    .max(366 * DAY, 'must be a year at most')
    .default(DAY),
});

/** @throws InboxError `INBOX_CONFIG` that names field, value and rule. */
export function validate(options: InboxOptions): ValidOptions {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw configError(describeConfigIssues('inbox', options, parsed.error.issues));
  const { table, ...rest } = parsed.data;
  const dot = table.indexOf('.');
  return Object.freeze({
    ...rest,
    table: { schema: dot < 0 ? null : table.slice(0, dot), name: table.slice(dot + 1) },
  });
}
