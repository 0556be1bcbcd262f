import { PermanentError, type HandlerContext, type OutboxEvent } from '@strandline/core';
import type { Row } from './log.js';
import type { Member } from './member.js';
import type { World } from './world.js';

/** The handler of one process: it does what is drawn for each call, and says what it does. */
export class Handlers {
  readonly #world: World;
  readonly #member: Member;
  /** What the window allows; and as much again for what an earlier owner had settled in front of letters, and not saved. */
  readonly #mostUnsettled: number;

  constructor(world: World, member: Member) {
    this.#world = world;
    this.#member = member;
    const { window, hasLetters } = world.scenario.options;
    this.#mostUnsettled = hasLetters ? 2 * window : window;
  }

  readonly handle = (event: OutboxEvent, ctx: HandlerContext): unknown => this.handleBatch([event], ctx);

  readonly handleBatch = (events: readonly OutboxEvent[], ctx: HandlerContext): unknown => {
    const { log, promises } = this.#world;
    // What a dead process would have done in the same moment.
    if (this.#member.isDead) return new Promise(() => undefined);
    const rows = events.map((event) => log.rowOf(event));
    const [head] = rows;
    const nth = head === undefined ? 0 : promises.startsOf(head);
    promises.started(this.#member, this.#member.mayNotStart, rows);
    promises.holds(this.#member.pipeline.status().unsettled, this.#mostUnsettled);
    return this.#work(rows, nth, ctx);
  };

  #work(rows: readonly Row[], nth: number, ctx: HandlerContext): unknown {
    const { draws, scenario, isQuiet } = this.#world;
    const { temper, poison } = scenario;
    const n = rows[0]?.n ?? 0;
    const drawn = draws.unit('handler', n, nth);
    const failure = !isQuiet && drawn < temper.fails ? this.#failure(drawn) : null;
    if (!isQuiet && rows.some((row) => row.n === poison)) {
      this.#world.die(this.#member);
      return new Promise(() => undefined);
    }
    const style = draws.unit('handler time', n, nth);
    if (!isQuiet && style > 1 - temper.hangs) return this.#hang(rows, ctx, drawn < 0.5);
    if (style < temper.answersAtOnce) return this.#endNow(rows, failure);
    return new Promise((resolve, reject) => {
      this.#world.clock.answer(this.#member, style * temper.longest, () => {
        this.#end(rows, failure === null);
        if (failure === null) resolve(undefined);
        else reject(failure);
      });
    });
  }

  #failure(drawn: number): Error {
    const { fails, permanently } = this.#world.scenario.temper;
    return drawn < fails * permanently ? new PermanentError('never') : new Error('not now');
  }

  #endNow(rows: readonly Row[], failure: Error | null): unknown {
    this.#end(rows, failure === null);
    if (failure !== null) throw failure;
    return undefined;
  }

  /** It ends when its signal aborts, if it heeds that, or when the faults are over. */
  #hang(rows: readonly Row[], { signal }: HandlerContext, heeds: boolean): Promise<void> {
    const key = rows[0]?.event.key ?? '';
    const { hung } = this.#world;
    const entry = { member: this.#member, key, end: (): void => undefined };
    hung.add(entry);
    return new Promise((resolve, reject) => {
      entry.end = () => {
        if (!hung.delete(entry)) return;
        this.#end(rows, true);
        resolve();
      };
      if (!heeds) return;
      signal.addEventListener('abort', () => {
        if (!hung.delete(entry)) return;
        this.#end(rows, false);
        reject(new Error('aborted'));
      });
    });
  }

  #end(rows: readonly Row[], succeeded: boolean): void {
    this.#world.promises.ended(this.#member, rows, succeeded);
  }
}
