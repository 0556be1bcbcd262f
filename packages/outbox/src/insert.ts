import { activeTrace } from './active-trace.js';
import type { NewEvent } from './event.js';
import { checkExecutor, type Executor } from './executor.js';
import { validate, type InsertOptions, type OutboxColumns, type ValidOptions } from './options.js';
import { rowOf } from './row.js';
import { checkSameColumns, insertStatements } from './statements.js';
import { validTrace, type TraceContext } from './trace-context.js';

/** Options under which the ids are made here. */
export type WithId = InsertOptions & { readonly columns?: OutboxColumns & { readonly id: string } };

/**
 * Writes an event to the outbox, in the transaction of the executor: with that it commits, and with that it is undone.
 *
 * @returns its id, by which the handler knows it; null when the server makes the ids.
 * @throws OutboxError before anything is sent; what the library throws as it is.
 */
export async function insertEvent(executor: Executor, event: NewEvent, options?: WithId): Promise<string>;
export async function insertEvent(
  executor: Executor,
  event: NewEvent,
  options: InsertOptions,
): Promise<string | null>;
export async function insertEvent(
  executor: Executor,
  event: NewEvent,
  options: InsertOptions = {},
): Promise<string | null> {
  const [id = null] = await insertEvents(executor, [event], options);
  return id;
}

/**
 * Writes several events, in this order: by one statement, or by a few one after the other when they are many or large.
 * Only a transaction makes those one.
 *
 * @returns their ids, in the order of the events.
 * @throws as `insertEvent`; when one event is wrong, none is written.
 */
export async function insertEvents(
  executor: Executor,
  events: readonly NewEvent[],
  options?: WithId,
): Promise<string[]>;
export async function insertEvents(
  executor: Executor,
  events: readonly NewEvent[],
  options: InsertOptions,
): Promise<(string | null)[]>;
export async function insertEvents(
  executor: Executor,
  events: readonly NewEvent[],
  options: InsertOptions = {},
): Promise<(string | null)[]> {
  checkExecutor(executor);
  const valid = validate(options);
  const trace = await traceOf(valid.trace);
  const rows = events.map((event) => rowOf(event, valid, trace, executor.dialect));
  checkSameColumns(rows);
  for (const { sql, params } of insertStatements(executor, valid, rows)) await executor.run(sql, params);
  return rows.map(({ id }) => id);
}

export async function traceOf(trace: ValidOptions['trace']): Promise<TraceContext | null> {
  const given = trace === 'active' ? await activeTrace() : trace;
  return given === null || given === false ? null : validTrace(given);
}
