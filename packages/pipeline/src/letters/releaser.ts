import type { DeadLetter, DeadLetterStore, Executor, Failure, LetterFence, Logger } from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import type { Happenings } from '../control/happenings.js';
import type { Doubt } from '../doubt.js';
import { HandledLetters } from './handled-letters.js';
import { LetterTurns } from './letter-turns.js';
import type { LettersAtHand } from './letters-at-hand.js';
import type { Parking } from './parking.js';
import type { Schedule } from './schedule.js';
import type { Suspects } from './suspects.js';
import type { Term } from '../term.js';

/** Letters that are read at once. */
const PAGE = 100;
/** Released keys that are looked at, beside those that are held: many more than are worked off at once, for some of them may have to wait. */
const LISTED = 1_000;
/** Keys whose live events are waited for without a poll between. */
const AWAITED = 16;

export interface ReleaserOptions {
  readonly config: PipelineConfig;
  readonly store: DeadLetterStore;
  readonly fence: LetterFence;
  readonly executor: Executor;
  readonly letters: LettersAtHand;
  readonly parking: Parking;
  readonly schedule: Schedule;
  readonly happenings: Happenings;
  readonly suspects: Suspects;
  /** Orders two positions of the log. */
  readonly compare: (a: string, b: string) => number;
  readonly term: Term;
  readonly doubt: Doubt;
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
  readonly #turns: LetterTurns;
  readonly #releasing = new Set<string>();
  /**
   * Of keys that are released: the furthest letter that was handled. Before the log has come there, a key is not live
   * again: what the log delivers once more would be handled behind later events.
   */
  readonly #furthest = new Map<string, string>();
  /** Keys whose live head was parked since the table was last asked: its answer may be older than that. */
  readonly #parkedSince = new Set<string>();
  /** Some of the keys that are released and have live events yet. */
  readonly #awaited = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #polling = false;
  #soon = false;
  readonly #closing = new AbortController();
  #idle: (() => void) | null = null;
  /** Called when a key that is waited for may have gone on. */
  #look: (() => void)[] = [];

  constructor(options: ReleaserOptions) {
    this.#options = options;
    const { config, executor, suspects, term, doubt, log } = options;
    this.#turns = new LetterTurns({
      ...{ config, suspects, term, doubt, log, closing: this.#closing.signal },
      mayRun: (key) => executor.mayRun(key),
    });
  }

  start(): void {
    this.#schedule(this.#options.config.parking.poll);
  }

  #schedule(delay: number): void {
    if (this.#isClosed()) return;
    this.#timer = setTimeout(() => {
      this.#polling = true;
      this.#soon = false;
      void this.#poll().then(() => {
        this.#polling = false;
        this.#schedule(this.#soon ? 0 : this.#options.config.parking.poll);
      });
    }, delay);
  }

  /** Keys whose letters are being worked off. */
  get keys(): readonly string[] {
    return [...this.#releasing];
  }

  /** A live head of the key has failed, and is parked in front of what was released. */
  parked(key: string): void {
    this.#parkedSince.add(key);
  }

  /** Something was settled: a key that is waited for may have gone on. */
  look(): void {
    for (const key of this.#awaited) {
      if (this.#options.executor.isLive(key)) continue;
      this.#awaited.delete(key);
      this.#pollSoon();
    }
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
    this.#turns.abort(reason);
  }

  /** Resolves when no letter is in flight. */
  idle(): Promise<void> {
    if (this.#releasing.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #poll(): Promise<void> {
    const { store, fence, config, executor, letters, parking } = this.#options;
    parking.tryFullOnes(this.#releasing);
    const free = config.parking.concurrency - this.#releasing.size;
    if (free <= 0 || executor.isPaused) return;
    this.#parkedSince.clear();
    const keys = (await letters.ask(() => store.released(fence, LISTED + executor.holds))) ?? [];
    this.#awaited.clear();
    // Those that only wait for the log come last: there may be more of them than places, and the log may be idle.
    const waiting = new Set(keys.filter((key) => this.#waitsForLog(key)));
    for (const key of [...keys.filter((one) => !waiting.has(one)), ...waiting]) {
      if (this.#isClosed() || this.#releasing.size >= config.parking.concurrency) return;
      if (this.#mayStart(key)) this.#start(key);
    }
  }

  #mayStart(key: string): boolean {
    const { executor, parking } = this.#options;
    if (this.#releasing.has(key) || this.#parkedSince.has(key) || parking.isAhead(key)) return false;
    if (!executor.mayRun(key)) return false;
    // What comes from now on queues behind; what is live comes before, however long that takes.
    executor.divert(key);
    if (!executor.isLive(key)) return true;
    if (this.#awaited.size < AWAITED) this.#awaited.add(key);
    return false;
  }

  #pollSoon(): void {
    this.#soon = true;
    if (this.#polling) return;
    clearTimeout(this.#timer);
    this.#schedule(0);
  }

  #start(key: string): void {
    this.#releasing.add(key);
    void this.#release(key).finally(() => {
      this.#releasing.delete(key);
      this.#options.changed();
      if (this.#releasing.size === 0) this.#idle?.();
    });
  }

  async #release(key: string): Promise<void> {
    const { executor } = this.#options;
    // Letters can be in the saved offset while what is live before them is not: after a crash that would be handled
    // again behind them.
    const { settled } = executor;
    if (!(await this.#until(() => this.#options.savedSettled() >= settled))) return;
    const { store, fence, letters, config } = this.#options;
    const handled = new HandledLetters({
      ...{ store, fence, letters, interval: config.commitInterval },
      fenced: this.#options.fenced,
    });
    try {
      await this.#workOff(key, handled);
    } finally {
      await handled.flush();
    }
  }

  async #workOff(key: string, handled: HandledLetters): Promise<void> {
    const { store, fence, letters, log } = this.#options;
    let count = 0;
    while (!this.#isClosed()) {
      const page = await letters.ask(() => store.read(fence, key, PAGE));
      if (page === null) return;
      for (const letter of page) {
        if (!(await this.#handle(letter, handled))) return;
        count += 1;
      }
      if (!(await handled.flush())) return;
      if (page.length > 0) continue;
      // It is looked at again with the next poll.
      if (!this.#isBehindLog(key)) return;
      if (await this.#unpark(key)) {
        this.#options.happenings.add(key, { what: 'live again' });
        log.info({ key, handled: count }, 'a parked key is live again: all its letters are handled');
        return;
      }
    }
  }

  #waitsForLog(key: string): boolean {
    const furthest = this.#furthest.get(key);
    return furthest !== undefined && !this.#options.parking.isBehindLog(key, furthest);
  }

  /** Whether the log has delivered all letters of the key that were handled; what it delivered is being stored if not. */
  #isBehindLog(key: string): boolean {
    const { executor, parking } = this.#options;
    if (!this.#waitsForLog(key)) return true;
    executor.holdParked(key, false);
    parking.pump();
    return false;
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
    this.#furthest.delete(key);
    parking.unparked(key);
    schedule.succeeded(key);
    return true;
  }

  /** Whether the letter was handled; if not, its key is parked again, or the pipeline stops. */
  async #handle(letter: DeadLetter, handled: HandledLetters): Promise<boolean> {
    const { key, position } = letter.event;
    const failure = await this.#turns.run(letter);
    if (failure === 'stopped') return false;
    if (failure === null) {
      handled.add(letter);
      const before = this.#furthest.get(key);
      if (before === undefined || this.#options.compare(position, before) > 0)
        this.#furthest.set(key, position);
      return true;
    }
    if (await handled.flush()) await this.#parkAgain(letter, failure);
    return false;
  }

  async #parkAgain(letter: DeadLetter, failure: Failure): Promise<void> {
    const { store, fence, letters, schedule, log } = this.#options;
    const { key, position, id } = letter.event;
    const retryAt = schedule.failed(key);
    const result = await letters.ask(() => store.failed(fence, letter, failure, retryAt));
    if (result === 'fenced') this.#options.fenced();
    log.error(
      { key, position, id, attempt: failure.attempts, retryAt },
      'a released letter failed for good: its key is parked again, at the same place',
    );
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
