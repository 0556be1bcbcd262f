import { z } from 'zod';
import { configError, eventError, eventOf } from './errors.js';
import type { NewEvent } from './event.js';
import { checkExecutor, placeOf, type Executor } from './executor.js';
import { traceOf } from './insert.js';
import { keyTexts } from './key.js';
import { limitsSchema, parsed, traceSchema, type InsertOptions } from './options.js';
import { headersText, payloadParam, typeText } from './parts.js';
import { idText } from './row.js';

export interface EmitOptions extends Pick<InsertOptions, 'limits' | 'trace'> {
  /** The one that the source is told in `messages: { prefix }`. */
  readonly prefix: string;
}

const schema = z.strictObject({
  prefix: z.string().regex(/^[^\0]{1,255}$/, 'must be a text of 1 to 255 characters'),
  limits: limitsSchema,
  trace: traceSchema,
});

/**
 * Writes an event into the log of Postgres without a table, in the transaction of the executor. The server keeps it no
 * longer than the log, so nothing is left to look at or to delete.
 *
 * @returns its id.
 * @throws OutboxError before anything is sent; what the library throws as it is.
 */
export async function emitEvent(executor: Executor, event: NewEvent, options: EmitOptions): Promise<string> {
  checkExecutor(executor);
  if (executor.dialect !== 'postgres')
    throw configError('Only Postgres takes events without a table.', 'Use insertEvent on MySQL and MariaDB.');
  const { prefix, limits, trace } = parsed(schema, options);
  const [key = ''] = keyTexts(event.key, 1, limits.key);
  if (event.columns !== undefined)
    throw eventError(`There are columns in ${eventOf(key)}, and a message has none.`, 'Leave them out.', key);
  const id = idText(event.id, key);
  const type = event.type === undefined ? null : typeText(event.type, limits, key);
  const payload = payloadParam(event.payload, 'json', limits, key) as string | null;
  const headers = headersText(event.headers, await traceOf(trace ?? 'active'), limits, key);
  const fields = [
    `"id":${JSON.stringify(id)}`,
    `"key":${JSON.stringify(key)}`,
    type === null ? null : `"type":${JSON.stringify(type)}`,
    payload === null ? null : `"payload":${payload}`,
    headers === null ? null : `"headers":${headers}`,
  ].filter((field) => field !== null);
  const place = placeOf(executor);
  // As text: some libraries have no type for an LSN.
  const sql = `select pg_logical_emit_message(true, cast(${place(1)} as text), cast(${place(2)} as text))::text as lsn`;
  await executor.run(sql, [prefix, `{${fields.join(',')}}`]);
  return id;
}
