import type { Finding, HandlerContext, OutboxEvent } from '@strandline/core';
import type { Database, Session } from './database.js';
import { diagnoseInbox } from './diagnose.js';
import { digestOf } from './digest.js';
import type { ValidOptions } from './options.js';
import { unlessAborted } from './unless-aborted.js';

/** Milliseconds between looks for records that are no longer needed. */
const PRUNING = 60_000;
/** Records that one look deletes, and two more for each event of its turn, so that it always keeps up. */
const CHUNK = 1_000;

/** Runs effects and records of events, each turn in one transaction. */
export class Inbox<Tx> {
  readonly #database: Database<Tx>;
  readonly #options: ValidOptions;
  #prepared: Promise<void> | null = null;
  /** Not at the start: what was in flight when the last process ended comes again first. */
  #pruneAt: number;
  #pruning = false;

  constructor(database: Database<Tx>, options: ValidOptions) {
    this.#database = database;
    this.#options = options;
    this.#pruneAt = performance.now() + this.#interval;
  }

  /**
   * Runs the effect for those of the events that are not recorded yet. An error of the effect is passed on as it is, and
   * so are those of the server, deadlocks and serialisation failures included: whether, when and how often to try again
   * is for the pipeline's retry policy, since the effect may have done more than SQL.
   */
  async run(
    events: readonly OutboxEvent[],
    ctx: HandlerContext,
    effect: (tx: Tx, events: readonly OutboxEvent[]) => unknown,
  ): Promise<void> {
    const { signal } = ctx;
    await unlessAborted(signal, () => this.#prepare());
    const session = await unlessAborted(
      signal,
      () => this.#database.open(),
      (late) => {
        late.release();
      },
    );
    const fresh = await this.#record(session, events, ctx);
    try {
      if (fresh.length > 0) await effect(session.tx, fresh);
      await session.commit();
    } catch (error) {
      await this.#giveUp(session);
      throw error;
    }
    await this.#giveBack(session, () => this.#prune(session, events.length, ctx));
  }

  /** Whether its table is there or can be made. Touches nothing. */
  async diagnose(): Promise<readonly Finding[]> {
    return diagnoseInbox(await this.#database.look());
  }

  async #record(
    session: Session<Tx>,
    events: readonly OutboxEvent[],
    ctx: HandlerContext,
  ): Promise<OutboxEvent[]> {
    const { signal } = ctx;
    try {
      const isNew = await unlessAborted(signal, () =>
        session.record(this.#nameFor(ctx), events.map(digestOf)),
      );
      signal.throwIfAborted();
      const known = events.filter((_, index) => isNew[index] !== true);
      if (known.length > 0)
        ctx.log.debug({ ids: known.map(({ id }) => id) }, 'handled before: acknowledged without running');
      return events.filter((_, index) => isNew[index] === true);
    } catch (error) {
      if (this.#database.isMissingTable(error)) this.#prepared = null;
      // It may still wait for somebody else's transaction: nothing can be sent behind that.
      if (signal.aborted) session.destroy();
      else await this.#giveUp(session);
      throw error;
    }
  }

  async #giveUp(session: Session<Tx>): Promise<void> {
    try {
      await session.rollback();
    } catch {
      session.destroy();
      return;
    }
    await this.#giveBack(session);
  }

  /** What fails here is no failure of the turn. A connection that is not what it was goes. */
  async #giveBack(session: Session<Tx>, before?: () => Promise<void>): Promise<void> {
    try {
      await session.restore();
      await before?.();
    } catch {
      session.destroy();
      return;
    }
    session.release();
  }

  async #prune(session: Session<Tx>, events: number, ctx: HandlerContext): Promise<void> {
    const { settledBefore } = ctx;
    if (settledBefore === null || this.#pruning || performance.now() < this.#pruneAt) return;
    this.#pruning = true;
    const limit = CHUNK + 2 * events;
    let deleted = 0;
    try {
      const { keep } = this.#options;
      deleted = await session.prune({ inbox: this.#nameFor(ctx), settledBefore, keep, limit });
    } catch (error) {
      ctx.log.warn(
        { reason: String(error) },
        'records of the inbox that are no longer needed can not be deleted now',
      );
      throw error;
    } finally {
      this.#pruning = false;
      // When there is more, the next turn goes on with it.
      this.#pruneAt = performance.now() + (deleted < limit ? this.#interval : 0);
    }
  }

  /** Once for all turns; again by the next one when it failed. */
  async #prepare(): Promise<void> {
    this.#prepared ??= this.#database.prepare();
    const prepared = this.#prepared;
    try {
      await prepared;
    } catch (error) {
      if (this.#prepared === prepared) this.#prepared = null;
      throw error;
    }
  }

  #nameFor({ pipeline }: HandlerContext): string {
    return this.#options.name ?? pipeline;
  }

  get #interval(): number {
    return Math.min(PRUNING, this.#options.keep / 10);
  }
}
