import type { Finding, HandlerContext, HandlerParts, OutboxEvent } from '@strandline/core';
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise';
import type { Pool as PostgresPool, PoolClient } from 'pg';
import { configError } from './errors.js';
import { Inbox } from './inbox.js';
import { MysqlDatabase } from './mysql.js';
import { validate, type InboxOptions } from './options.js';
import { isPostgresPool, recognised } from './pools.js';
import { PostgresDatabase } from './postgres.js';

/** What an event does to a database, over a connection that has a transaction open. */
export type Effect<Tx> = (tx: Tx, event: OutboxEvent, ctx: HandlerContext) => unknown;

/** What the events of a batch do that have not been handled before, in order. Not called when there is none. */
export type BatchEffect<Tx> = (tx: Tx, events: readonly OutboxEvent[], ctx: HandlerContext) => unknown;

/**
 * A handler whose effect takes place once per event, however often that is delivered: the record of the event and what
 * the effect does over `tx` are one transaction. An event that is recorded is acknowledged without running; one that
 * another process is just at waits for how that ends.
 *
 * Leave the transaction to it: no COMMIT, ROLLBACK or DDL over `tx`, and nothing over it after the effect has ended.
 *
 * @param pool a `Pool` of pg, or of mysql2/promise. It is not closed here.
 * @throws InboxError `INBOX_CONFIG`; the handler rejects with what the effect or the server threw, and with `INBOX_…`.
 */
export function inbox(
  pool: PostgresPool,
  effect: Effect<PoolClient>,
  options?: InboxOptions,
): (event: OutboxEvent, ctx: HandlerContext) => Promise<void>;
export function inbox(
  pool: MysqlPool,
  effect: Effect<PoolConnection>,
  options?: InboxOptions,
): (event: OutboxEvent, ctx: HandlerContext) => Promise<void>;
export function inbox<Tx extends PoolClient | PoolConnection>(
  pool: PostgresPool | MysqlPool,
  effect: Effect<Tx>,
  options: InboxOptions = {},
): (event: OutboxEvent, ctx: HandlerContext) => Promise<void> {
  const opened = open<Tx>(pool, effect, options);
  const handle = (event: OutboxEvent, ctx: HandlerContext): Promise<void> =>
    opened.run([event], ctx, (tx) => effect(tx, event, ctx));
  return Object.assign(handle, partsOf(opened));
}

/** The same for a pipeline with `batch`: one transaction per batch, for those of its events that are not recorded yet. */
export function batchInbox(
  pool: PostgresPool,
  effect: BatchEffect<PoolClient>,
  options?: InboxOptions,
): (events: readonly OutboxEvent[], ctx: HandlerContext) => Promise<void>;
export function batchInbox(
  pool: MysqlPool,
  effect: BatchEffect<PoolConnection>,
  options?: InboxOptions,
): (events: readonly OutboxEvent[], ctx: HandlerContext) => Promise<void>;
export function batchInbox<Tx extends PoolClient | PoolConnection>(
  pool: PostgresPool | MysqlPool,
  effect: BatchEffect<Tx>,
  options: InboxOptions = {},
): (events: readonly OutboxEvent[], ctx: HandlerContext) => Promise<void> {
  const opened = open<Tx>(pool, effect, options);
  const handle = (events: readonly OutboxEvent[], ctx: HandlerContext): Promise<void> =>
    opened.run(events, ctx, (tx, fresh) => effect(tx, fresh, ctx));
  return Object.assign(handle, partsOf(opened));
}

/** The pool is the application's, so nothing of it is closed. */
function partsOf(opened: { diagnose(): Promise<readonly Finding[]> }): HandlerParts {
  return { diagnose: () => opened.diagnose() };
}

function open<Tx>(pool: unknown, effect: unknown, options: InboxOptions): Inbox<Tx> {
  const valid = validate(options);
  if (typeof effect !== 'function') throw configError('The effect of an inbox must be a function.');
  const known = recognised(pool);
  // The overloads say which connection belongs to which pool.
  return (isPostgresPool(known)
    ? new Inbox(new PostgresDatabase(known, valid), valid)
    : new Inbox(new MysqlDatabase(known, valid), valid)) as unknown as Inbox<Tx>;
}
