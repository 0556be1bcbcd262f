import {
  nextDelay,
  type DeadLetter,
  type DeadLetterStore,
  type Executor,
  type Failure,
  type LetterFence,
  type Logger,
} from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from './config.js';
import { errorFields } from './error-fields.js';
import { HandlerTimeoutError } from './errors.js';
import { TurnContext } from './handler-context.js';
import { letterError } from './letter-error.js';
import { pause } from './pause.js';
import type { LettersAtHand } from './letters-at-hand.js';
import type { Parking } from './parking.js';
import type { Schedule } from './schedule.js';
import type { Suspects } from './suspects.js';
import type { Term } from './term.js';

/** Letters that are read at once. */
const PAGE = 100;

export interface ReleaserOptions {
  readonly config: PipelineConfig;
  readonly store: DeadLetterStore;
  readonly fence: LetterFence;
  readonly executor: Executor;
  readonly letters: LettersAtHand;
  readonly parking: Parking;
  readonly schedule: Schedule;
  readonly suspects: Suspects;
  readonly term: Term;
  readonly log: Logger;
  /** How many of the events that were settled are saved. */
  readonly savedSettled: () => number;
  /** Keys are live again, or their letters wait again. */
  readonly changed: () => void;
  readonly fenced: () => void;
}

/**
 * Works off the letters of released keys: in their order, one at a time, with the pipeline's own handler and retry
 * policy. While it does, what the log brings of such a key queues behind in the table; when nothing waits there any
 * more the key is live again. A letter that fails for good stays where it is, and its key waits again.
 */
export class Releaser {
  readonly #options: ReleaserOptions;
  readonly #running = new Map<string, TurnContext | null>();
  /** Keys that wait here for what is live of them, and whose live head has failed meanwhile. */
  readonly #parkedAgain = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();
  #idle: (() => void) | null = null;
  /** Called when a key that is waited for may have gone on. */
  #look: (() => void)[] = [];

  constructor(options: ReleaserOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isClosed()) return;
    this.#timer = setTimeout(() => {
      void this.#poll().then(() => {
        this.start();
      });
    }, this.#options.config.parking.poll);
  }

  /** Keys whose letters are being worked off. */
  get keys(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** A live head of the key has failed: the release that waits for it is void. */
  parked(key: string): void {
    if (this.#running.has(key)) this.#parkedAgain.add(key);
  }

  /** Something was settled: a key that is waited for may have gone on. */
  look(): void {
    if (this.#look.length === 0) return;
    const waiting = this.#look;
    this.#look = [];
    for (const wake of waiting) wake();
  }

  /** Starts nothing more. */
  stopTaking(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.look();
  }

  abort(reason: unknown): void {
    for (const ctx of this.#running.values()) ctx?.abort(reason);
  }

  /** Resolves when no letter is in flight. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #poll(): Promise<void> {
    const { store, fence, config, letters } = this.#options;
    const free = config.parking.concurrency - this.#running.size;
    if (free <= 0) return;
    const keys = await letters.ask(() => store.released(fence, config.parking.concurrency * 2));
    for (const key of keys ?? []) {
      if (this.#isClosed() || this.#running.size >= config.parking.concurrency) return;
      if (!this.#running.has(key) && !this.#options.parking.isAhead(key)) this.#start(key);
    }
  }

  #start(key: string): void {
    this.#running.set(key, null);
    void this.#release(key).finally(() => {
      this.#running.delete(key);
      this.#options.changed();
      if (this.#running.size === 0) this.#idle?.();
    });
  }

  async #release(key: string): Promise<void> {
    const { executor, store, fence, letters, log } = this.#options;
    // What comes from now on queues behind; what is live comes before.
    executor.divert(key);
    if (!(await this.#until(() => !executor.isLive(key)))) return;
    if (this.#parkedAgain.delete(key)) return;
    // Letters can be in the saved offset while what is live before them is not: after a crash that would be handled
    // again behind them.
    const { settled } = executor;
    if (!(await this.#until(() => this.#options.savedSettled() >= settled))) return;
    let handled = 0;
    while (!this.#isClosed()) {
      const page = await letters.ask(() => store.read(fence, key, PAGE));
      if (page === null) return;
      for (const letter of page) {
        if (!(await this.#handle(letter))) return;
        handled += 1;
      }
      if (page.length === 0 && (await this.#unpark(key))) {
        log.info({ key, handled }, 'a parked key is live again: all its letters are handled');
        return;
      }
    }
  }

  /** Nothing waits in the table: the key is live again, if nothing came in between. */
  async #unpark(key: string): Promise<boolean> {
    const { executor, store, fence, letters, parking, schedule } = this.#options;
    executor.holdParked(key, true);
    if (!(await this.#until(() => !executor.isStoring(key)))) return false;
    const done = await letters.ask(() => store.unpark(fence, key));
    if (done === 'fenced') this.#options.fenced();
    if (done !== true) {
      executor.holdParked(key, false);
      parking.pump();
      return false;
    }
    executor.unpark(key);
    parking.unparked(key);
    schedule.succeeded(key);
    return true;
  }

  /** Whether the letter was handled, and that is noted. */
  async #handle(letter: DeadLetter): Promise<boolean> {
    const { store, fence, letters, schedule, log } = this.#options;
    const { key, position, id } = letter.event;
    const failure = await this.#attempts(letter);
    if (failure === 'stopped') return false;
    if (failure === null) {
      const result = await letters.ask(() => store.handled(fence, letter));
      if (result === 'fenced') this.#options.fenced();
      return result === 'stored';
    }
    const retryAt = schedule.failed(key);
    const result = await letters.ask(() => store.failed(fence, letter, failure, retryAt));
    if (result === 'fenced') this.#options.fenced();
    log.error(
      { key, position, id, attempt: failure.attempts, retryAt },
      'a released letter failed for good: its key is parked again, at the same place',
    );
    return false;
  }

  /** Calls the handler until it succeeds (null), no retry can help, or the pipeline stops. */
  async #attempts(letter: DeadLetter): Promise<Failure | 'stopped' | null> {
    const { config, term, log } = this.#options;
    const { key, position } = letter.event;
    const before = letter.failure?.attempts ?? 0;
    let firstFailedAt = NaN;
    for (let attempt = 1; ; attempt += 1) {
      if (this.#isClosed()) return 'stopped';
      const ctx = new TurnContext(letter.event, attempt, term);
      try {
        await this.#call(letter, ctx);
        return null;
      } catch (error) {
        const now = Date.now();
        if (Number.isNaN(firstFailedAt)) firstFailedAt = now;
        const delay = nextDelay(config.retry, attempt, now - firstFailedAt, error, Math.random());
        if (delay === null) {
          return {
            error: letterError(error),
            attempts: before + attempt,
            firstFailedAt: letter.failure?.firstFailedAt ?? new Date(firstFailedAt).toISOString(),
            lastFailedAt: new Date(now).toISOString(),
          };
        }
        log.warn({ key, position, attempt, err: errorFields(error) }, 'handler failed: trying again');
        await pause(Math.max(delay, ctx.notBefore), this.#closing.signal);
      }
    }
  }

  async #call(letter: DeadLetter, ctx: TurnContext): Promise<void> {
    const { config, suspects, log } = this.#options;
    const { event } = letter;
    this.#running.set(event.key, ctx);
    const timer =
      config.handlerTimeout < Infinity
        ? setTimeout(() => {
            log.warn(
              {
                key: event.key,
                position: event.position,
                id: event.id,
                handlerTimeout: config.handlerTimeout,
              },
              'handler takes too long: its signal is aborted, and its key waits until it has ended',
            );
            ctx.abort(new HandlerTimeoutError(config.handlerTimeout));
          }, config.handlerTimeout)
        : undefined;
    try {
      const call = (): unknown =>
        config.batch === undefined
          ? (config.handle as Handler)(event, ctx)
          : (config.handle as BatchHandler)([event], ctx);
      await (letter.reason === 'crash' ? suspects.alone(event, call) : call());
    } finally {
      clearTimeout(timer);
      this.#running.set(event.key, null);
    }
  }

  /** Waits until something holds; false when the pipeline stops before. */
  async #until(holds: () => boolean): Promise<boolean> {
    while (!holds()) {
      if (this.#isClosed()) return false;
      await new Promise<void>((resolve) => this.#look.push(resolve));
    }
    return !this.#isClosed();
  }
}
