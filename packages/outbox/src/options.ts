import { z } from 'zod';
import { tableName, type TableName } from './dialect.js';
import { configError } from './errors.js';
import type { GivenTrace } from './trace-context.js';

/** Which column of a table of the application's own is what. What is not named is not written. */
export interface OutboxColumns {
  /** Left out when the server makes the ids, such as those of an identity column. */
  readonly id?: string;
  /** One column, or several, which take a part of the key each. */
  readonly key: string | readonly string[];
  readonly type?: string;
  readonly payload?: string;
  readonly headers?: string;
}

/** The most that an event may have. */
export interface EventLimits {
  /** Bytes, default 1 MiB. */
  readonly payload?: number;
  /** Bytes of their JSON, default 64 KiB. */
  readonly headers?: number;
  /** Characters, default 255: what the column takes on MySQL. */
  readonly key?: number;
  /** Characters, default 255. */
  readonly type?: number;
}

/** How a payload is given: as a value that is made JSON, as a text, or as bytes. */
export type PayloadFormat = 'json' | 'text' | 'bytes';

export interface InsertOptions {
  /** Default `strandline_outbox`; or `schema.table` (MySQL: `database.table`). Exact, not folded to lower case. */
  readonly table?: string;
  /** Default: those of the table that `outboxDdl` makes. */
  readonly columns?: OutboxColumns;
  /** Default `json`. A `text` in a JSON column must be JSON itself: that is how numbers of any length get there. */
  readonly payloadFormat?: PayloadFormat;
  readonly limits?: EventLimits;
  /**
   * For the headers `traceparent` and `tracestate`. Default: those of OpenTelemetry's active span, if the application
   * has registered an SDK. False for none. Headers of an event that has a `traceparent` already are left as they are.
   */
  readonly trace?: GivenTrace | false;
}

/** Validated, with every default filled in. */
export interface ValidOptions {
  readonly table: TableName;
  /** Without columns of the application's own: the table is as `outboxDdl` makes it. */
  readonly isPreset: boolean;
  readonly columns: {
    readonly id: string | null;
    readonly key: readonly string[];
    readonly type: string | null;
    readonly payload: string | null;
    readonly headers: string | null;
  };
  readonly payloadFormat: PayloadFormat;
  readonly limits: Required<EventLimits>;
  readonly trace: GivenTrace | false | 'active';
}

const MIB = 1024 * 1024;
/** What Postgres and the servers of MySQL take of a parameter. */
const MOST_BYTES = 512 * MIB;
const MOST_KEY_COLUMNS = 16;

export const PRESET_TABLE = 'strandline_outbox';

/** The libraries take a `?` for the place of a value, wherever it stands. */
const name = z
  .string()
  .regex(/^[^\0?]{1,64}$/, 'must be a name of up to 64 characters without a question mark');
const part = '[^.\\0?]{1,64}';
const bytes = z.number().int().min(0).max(MOST_BYTES);
const characters = z.number().int().min(1).max(65_535);

export const limitsSchema = z
  .strictObject({
    payload: bytes.default(MIB),
    headers: bytes.default(64 * 1024),
    key: characters.default(255),
    type: characters.default(255),
  })
  .prefault({});

/** What is in it comes with requests: it is looked at when it is used, and is never a wrong option. */
export const traceSchema = z
  .union([z.literal(false), z.custom<GivenTrace>((trace) => typeof trace === 'object' && trace !== null)], {
    error: 'must be { traceparent, tracestate }, or false',
  })
  .optional();

const schema = z.strictObject({
  table: z
    .string()
    .regex(new RegExp(`^${part}(\\.${part})?$`), 'must be the name of a table, or schema.table')
    .default(PRESET_TABLE),
  columns: z
    .strictObject({
      id: name.optional(),
      key: z.union([name, z.array(name).min(1).max(MOST_KEY_COLUMNS)]),
      type: name.optional(),
      payload: name.optional(),
      headers: name.optional(),
    })
    .optional(),
  payloadFormat: z.enum(['json', 'text', 'bytes']).default('json'),
  limits: limitsSchema,
  trace: traceSchema,
});

/** @throws OutboxError `OUTBOX_CONFIG` */
export function validate(options: InsertOptions): ValidOptions {
  const { table, columns, trace, ...rest } = parsed(schema, options);
  const { id = null, key, type = null, payload = null, headers = null } = columns ?? PRESET_COLUMNS;
  return Object.freeze({
    ...rest,
    table: tableName(table),
    isPreset: columns === undefined,
    columns: { id, key: [key].flat(), type, payload, headers },
    trace: trace ?? 'active',
  });
}

const PRESET_COLUMNS = {
  id: 'id',
  key: 'key',
  type: 'type',
  payload: 'payload',
  headers: 'headers',
} as const;

/** @throws OutboxError `OUTBOX_CONFIG` that names field and rule. */
export function parsed<T>(shape: z.ZodType<T>, options: unknown): T {
  const result = shape.safeParse(options);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => {
    const field = ['options', ...path.map(String)].join('.');
    return `${field}: ${message.replace(/\.?$/, '.')}`;
  });
  throw configError(issues.join(' '));
}
