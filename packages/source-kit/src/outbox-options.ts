import { z } from 'zod';
import { PRESETS, withPreset, type OutboxPreset } from './presets.js';

/** A row as a key function sees it: every column by name, as the server's own text, null for NULL. */
export type OutboxRow = Readonly<Record<string, string | null>>;

/** One column, several, or a function of the row. A key of several columns is the JSON array of their texts. */
export type OutboxKey = string | readonly string[] | ((row: OutboxRow) => string | null);

/** Which table is the outbox, and which of its columns means what. */
export interface OutboxTableOptions {
  /** Fills in what is not given here: `debezium` or `strandline`. */
  readonly preset?: OutboxPreset;
  /**
   * `outbox`, found on the search path (Postgres) or in the connection's database (MySQL), or `schema.outbox`; exact,
   * not folded to lower case.
   */
  readonly table?: string;
  readonly id?: string;
  /** One column, several, or a function of the row. A key of several columns is the JSON array of their texts. */
  readonly key?: OutboxKey;
  readonly type?: string;
  readonly payload?: string;
  /**
   * How `event.payload` is made, where the column's type does not say it: `json` for JSON in a text column, `text` to
   * leave a JSON column as it is.
   */
  readonly payloadFormat?: 'json' | 'text';
  /** A column with a JSON object in it. */
  readonly headers?: string;
  /** More columns for `event.columns`. */
  readonly columns?: readonly string[];
  /**
   * The order in which `start: 'snapshot'` reads the rows that are already there; the id when it is an integer.
   * The table does not know the commit order of old rows, so name the columns that come closest.
   */
  readonly snapshotOrder?: readonly string[];
}

/** The same, validated, with every default filled in. */
export interface OutboxTable {
  readonly table: string;
  readonly id: string;
  readonly key: OutboxKey;
  readonly type?: string | undefined;
  readonly payload?: string | undefined;
  readonly payloadFormat?: 'json' | 'text' | undefined;
  readonly headers?: string | undefined;
  readonly columns: readonly string[];
  readonly snapshotOrder?: readonly string[] | undefined;
}

/** What a server allows. */
export interface OutboxLimits {
  /** Longest name of a table or column, in the server's `unit`. */
  readonly name: number;
  readonly unit: 'bytes' | 'characters';
  /** What stands before the dot of a table's name. */
  readonly qualifier: 'schema' | 'database';
  readonly columns: number;
  /** Columns of a key, and of an order. */
  readonly keyColumns: number;
}

const keyFunction = z.custom<(row: OutboxRow) => string | null>((value) => typeof value === 'function');

/** The schema of the outbox options: fills in the preset, checks, fills in the defaults. */
export function outboxSchema(limits: OutboxLimits): z.ZodType<OutboxTable> {
  const column = z
    .string()
    .min(1, 'must be the name of a column')
    .max(limits.name, `must be a name of at most ${String(limits.name)} ${limits.unit}`);
  const part = `[^.\\0]{1,${String(limits.name)}}`;
  const columns = z.strictObject({
    table: z
      .string('must name the outbox table, such as outbox or shop.outbox')
      .regex(new RegExp(`^${part}(\\.${part})?$`), `must be a table name, or ${limits.qualifier}.table`),
    id: column,
    key: z.union([column, z.array(column).min(1).max(limits.keyColumns), keyFunction], {
      error: `must be a column, a list of up to ${String(limits.keyColumns)} columns, or a function of the row`,
    }),
    type: column.optional(),
    payload: column.optional(),
    payloadFormat: z.enum(['json', 'text']).optional(),
    headers: column.optional(),
    columns: z.array(column).max(limits.columns).default([]),
    snapshotOrder: z.array(column).min(1).max(limits.keyColumns).optional(),
  });
  return z.preprocess((outbox, context) => {
    if (typeof outbox !== 'object' || outbox === null || Array.isArray(outbox)) return outbox;
    const filled = withPreset(outbox as Record<string, unknown>);
    if (filled !== null) return filled;
    const message = `must be one of ${Object.keys(PRESETS).join(', ')}`;
    context.addIssue({ code: 'custom', path: ['preset'], message });
    return z.NEVER;
  }, columns);
}
