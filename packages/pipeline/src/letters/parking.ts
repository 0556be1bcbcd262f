import {
  OwnershipLostError,
  readThrown,
  StrandlineError,
  timedBy,
  type DeadLetterStore,
  type Executor,
  type Failure,
  type LetterFence,
  type LetterReason,
  type LetterResult,
  type Logger,
  type NewLetter,
  type OutboxEvent,
  type ParkedKey,
  type ParkedStrand,
  type Strand,
} from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import { errorFields } from '../error-fields.js';
import type { Happenings } from '../control/happenings.js';
import { HandlerCrashError } from '../errors.js';
import { tell } from '../events/channels.js';
import type { StoredReason } from '../report/ledger.js';
import type { Term } from '../term.js';
import { letterError } from './letter-error.js';
import type { LettersAtHand } from './letters-at-hand.js';
import type { Schedule } from './schedule.js';

/** Letters that one transaction stores. */
const BATCH = 500;
const PARKED = 'this key is parked, and what follows of it waits in the dead-letter table';
/** Keys whose followers are stored at once. */
const STORES = 4;

export interface ParkingOptions {
  readonly config: PipelineConfig;
  readonly store: DeadLetterStore;
  readonly fence: LetterFence;
  readonly executor: Executor;
  readonly letters: LettersAtHand;
  readonly schedule: Schedule;
  readonly happenings: Happenings;
  readonly log: Logger;
  readonly term: Term;
  /** Orders two positions of the log. */
  readonly compare: (a: string, b: string) => number;
  /** Something was settled, or is live again. */
  readonly changed: () => void;
  /** A live head has failed: its key waits for somebody, also if it was released before. */
  readonly parked: (key: string) => void;
  /** A newer owner has taken the table. */
  readonly fenced: (error: OwnershipLostError) => void;
}

/** Why a head is stored: its handler has failed for good, or an operator says so. */
interface Verdict {
  readonly letter: NewLetter;
  /** When its key is released by itself; asked when it is stored. */
  readonly retryAt: () => string | null;
  readonly say: (what: string) => void;
}

/**
 * Stores what can't be handled: the head that failed for good, and then what the log brings of its key. Only what is
 * stored is settled. While the table is away the key holds, and its strand with it.
 *
 * A key is parked from the position of its first waiting letter on. What the log delivers again before that, after a
 * crash, was handled before it and is handled again before it.
 */
export class Parking {
  readonly #options: ParkingOptions;
  /** Keys with letters of an earlier run, whose first one the log has not reached yet: where that lies. */
  readonly #ahead = new Map<string, string>();
  /** The newest event that was admitted, or what the log has passed since. */
  #logAt: { readonly position: string } | null = null;
  /** Who waits until the log has reached the letters of a key. */
  readonly #waiting = new Map<string, () => void>();
  #stopped = false;
  /** Keys that are stored for want of room, and not because of a failure. */
  readonly #overflown = new Set<string>();
  /** How far the storing of a halted head had come when it found no room, if it had begun. */
  readonly #begun = new Map<string, 'head held' | 'partly stored'>();
  /** Parked keys of which the table takes no more. */
  readonly #full = new Set<string>();
  #jobs = 0;
  #storing = 0;
  #idle: (() => void) | null = null;

  constructor(options: ParkingOptions) {
    this.#options = options;
  }

  /** Keys that have letters from an earlier run, and where everything up to `watermark` is settled. */
  know(keys: readonly ParkedKey[], watermark: string): void {
    const { executor, compare } = this.#options;
    // Up to there the log brings nothing any more.
    this.#logAt = { position: watermark };
    for (const { key, position } of keys) {
      if (compare(position, watermark) <= 0) executor.divert(key);
      else this.#ahead.set(key, position);
    }
  }

  /** The log has come to this event: its key is parked from here on, or not yet. */
  reached({ key, position }: OutboxEvent): void {
    if (this.#ahead.size === 0) return;
    const first = this.#ahead.get(key);
    if (first === undefined || this.#options.compare(position, first) < 0) return;
    this.#hasReached(key);
  }

  /** The executor has this event now. */
  admitted(event: OutboxEvent): void {
    this.#logAt = event;
  }

  /** Whether all that the log brings up to here was admitted by this run, and is stored where its key is parked. */
  isBehindLog(key: string, position: string): boolean {
    const { executor, compare } = this.#options;
    if (this.#logAt === null || compare(this.#logAt.position, position) < 0) return false;
    const waits = executor.oldestParked(key);
    return waits === null || compare(waits.position, position) > 0;
  }

  /** The log has come so far: letters up to there are not delivered again. */
  passed(position: string): void {
    this.#logAt = { position };
    for (const [key, first] of this.#ahead) {
      if (this.#options.compare(position, first) >= 0) this.#hasReached(key);
    }
  }

  /** Nobody waits for the log any more. */
  stopWaiting(): void {
    this.#stopped = true;
    for (const wake of this.#waiting.values()) wake();
    this.#waiting.clear();
  }

  /** Whether the log may still bring what comes before the letters of a key. */
  isAhead(key: string): boolean {
    return this.#ahead.has(key);
  }

  /**
   * A head that has failed waits for the log to come to the letters of its key. What lies in between belongs to what an
   * earlier run had settled and not saved, so it is no more than a window: it is read though the window is full, since
   * the head holds it until then.
   */
  get waitsForLog(): boolean {
    return this.#waiting.size > 0;
  }

  /** The head of a strand has failed for good. */
  exhausted(strand: Strand, error: unknown): void {
    const { config } = this.#options;
    if (config.onFailure === 'halt') this.#halt(strand, error, 'handler failed for good');
    else this.#work(this.#giveUp(strand, error));
  }

  /**
   * An operator gives up the head of a strand that does not run: it is stored like one that has failed for good, alone
   * (`skip`) or with what follows it (`park`). With any answer but `stored` nothing is done, and it waits as before, or
   * is halted if it was. Null when the run ends meanwhile.
   */
  byHand(strand: Strand, how: 'park' | 'skip'): Promise<LetterResult | null> {
    const wasHalted = strand.state === 'halted';
    if (wasHalted && !this.#isPartlyStored(strand)) this.restore(strand);
    this.#options.executor.giveUp(strand);
    const job = this.#byHand(strand, how, wasHalted);
    this.#work(job.then(() => undefined));
    return job;
  }

  /**
   * What follows a halted head is live behind it again, if storing it had begun. False, and nothing is done, when a part
   * of what is live is in the table already: it can only be parked, else it would be handled twice.
   */
  restore(strand: Strand): boolean {
    if (this.#isPartlyStored(strand)) return false;
    if (this.#begun.delete(strand.key)) this.#options.executor.unholdHead(strand);
    return true;
  }

  #isPartlyStored({ key }: Strand): boolean {
    return this.#begun.get(key) === 'partly stored';
  }

  /** A key has more events than it may hold here: from now on they are stored, and handled from there. */
  overflow(key: string): void {
    const { executor, log } = this.#options;
    if (executor.isParked(key)) return;
    executor.divert(key);
    this.#overflown.add(key);
    this.#tellParked(key);
    log.warn(
      { key },
      'a key has filled its share of the window: what follows is stored, and handled from there',
    );
    this.pump();
  }

  /** Parked keys that hold the log, for the table has no room. */
  get fullKeys(): readonly string[] {
    return [...this.#full];
  }

  /** Somebody may have made room; what is being released is looked after there. */
  tryFullOnes(released: ReadonlySet<string>): void {
    for (const key of this.#full) if (!released.has(key)) this.#options.executor.holdParked(key, false);
    this.pump();
  }

  /** Stores what waits of parked keys. */
  pump(): void {
    while (this.#storing < STORES) {
      const parked = this.#options.executor.takeParked(BATCH);
      if (parked === null) return;
      this.#storing += 1;
      this.#work(this.#storeFollowers(parked));
    }
  }

  /** A key is live again. */
  unparked(key: string): void {
    this.#overflown.delete(key);
    this.#full.delete(key);
  }

  /** Resolves when nothing is being stored. */
  idle(): Promise<void> {
    if (this.#jobs === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  async #byHand(strand: Strand, how: 'park' | 'skip', wasHalted: boolean): Promise<LetterResult | null> {
    const verdict = this.#byOperator(strand);
    const result = await (how === 'park'
      ? this.#storeHead(strand, verdict)
      : this.#storeSkipped(strand, verdict));
    if (result === 'fenced') this.#fenced();
    if (result === 'full') {
      const stays = this.restore(strand) && !wasHalted;
      if (stays) this.#options.executor.takeBack(strand);
      else this.#options.executor.halt(strand);
    }
    this.#options.changed();
    this.pump();
    return result;
  }

  async #giveUp(strand: Strand, error: unknown): Promise<void> {
    const { config } = this.#options;
    const verdict = this.#forGood(strand, error);
    const result = await (config.onFailure === 'park'
      ? this.#storeHead(strand, verdict)
      : this.#storeSkipped(strand, verdict));
    if (result === 'fenced') this.#fenced();
    if (result === 'full')
      this.#halt(
        strand,
        error,
        'handler failed for good, and the dead-letter table is full, or does not take it',
      );
    this.#options.changed();
    this.pump();
  }

  #forGood(strand: Strand, error: unknown): Verdict {
    return {
      letter: letterOf(strand, error),
      retryAt: () => this.#options.schedule.failed(strand.key),
      say: (what) => {
        this.#say(strand, error, what);
      },
    };
  }

  /** It waits for somebody, whatever the schedule. */
  #byOperator(strand: Strand): Verdict {
    const { key, attempt, lastError } = strand;
    const { event } = strand.head;
    const failure = Number.isNaN(strand.firstFailedAt) ? null : failureOf(strand, lastError);
    return {
      letter: { event, reason: 'operator', failure },
      retryAt: () => null,
      say: (what) => {
        const { id, position } = event;
        this.#options.log.warn({ key, position, id, attempt }, `given up by an operator: ${what}`);
      },
    };
  }

  async #storeSkipped(strand: Strand, { letter, say }: Verdict): Promise<LetterResult | null> {
    const { executor, store, fence, config, letters } = this.#options;
    const result = await letters.ask(() => orFull(store.skip(fence, letter, config.parking.limits)));
    if (result !== 'stored') return result;
    this.#note(letter.event.key, 'skipped', 1);
    say('this event is skipped and kept in the dead-letter table');
    this.#happened(strand, 'skipped');
    executor.skip(strand);
    return result;
  }

  async #storeHead(strand: Strand, verdict: Verdict): Promise<LetterResult | null> {
    const { executor, parked } = this.#options;
    const { key } = strand;
    // What the log brings before the letters of an earlier run is live, and belongs in front of them.
    if (this.#ahead.has(key)) await this.#untilReached(key);
    if (this.#stopped && this.#ahead.has(key)) return null;
    const result = await (executor.isParked(key)
      ? this.#storeInFront(strand, verdict)
      : this.#storeFirst(strand, verdict));
    if (result === 'stored') {
      this.#begun.delete(key);
      this.#overflown.delete(key);
      this.#tellParked(key);
      parked(key);
    }
    return result;
  }

  /** The head is the first letter of its key; what follows is stored behind it. */
  async #storeFirst(strand: Strand, verdict: Verdict): Promise<LetterResult | null> {
    const { executor, store, fence, config, letters } = this.#options;
    const { limits } = config.parking;
    const { key } = strand;
    executor.holdHead(strand);
    this.#begun.set(key, 'head held');
    const retryAt = verdict.retryAt();
    const result = await letters.ask(() =>
      orFull(store.park(fence, key, [verdict.letter], 'behind', limits, retryAt)),
    );
    if (result !== 'stored') return result;
    this.#note(key, verdict.letter.reason, 1);
    verdict.say(PARKED);
    this.#happened(strand, 'parked');
    executor.skip(strand);
    executor.holdParked(key, false);
    return result;
  }

  /**
   * The table has later events of the key: all that is live of it goes in front of them, the last ones first. A crash
   * in between leaves the rest of it to the log, which delivers it again.
   */
  async #storeInFront(strand: Strand, verdict: Verdict): Promise<LetterResult | null> {
    const { executor, store, fence, config, letters } = this.#options;
    const { limits } = config.parking;
    const { key } = strand;
    const retryAt = verdict.retryAt();
    const behind = strand.events().slice(1);
    const live = [
      verdict.letter,
      ...behind.map((event): NewLetter => ({ event, reason: 'behind', failure: null })),
    ];
    for (let end = live.length; end > 0; end -= BATCH) {
      const chunk = live.slice(Math.max(0, end - BATCH), end);
      const result = await letters.ask(() => orFull(store.park(fence, key, chunk, 'front', limits, retryAt)));
      if (result !== 'stored') return result;
      this.#begun.set(key, 'partly stored');
    }
    this.#note(key, verdict.letter.reason, 1);
    if (behind.length > 0) this.#note(key, 'behind', behind.length);
    verdict.say(PARKED);
    this.#happened(strand, 'parked');
    executor.skipAll(strand);
    return 'stored';
  }

  async #storeFollowers(parked: ParkedStrand): Promise<void> {
    const { executor, store, fence, config, letters } = this.#options;
    const entries = parked.first(parked.storing);
    const reason = this.#overflown.has(parked.key) ? 'overflow' : 'behind';
    const stored = entries.map(({ event }): NewLetter => ({ event, reason, failure: null }));
    const result = await letters.ask(() =>
      orFull(store.park(fence, parked.key, stored, 'behind', config.parking.limits)),
    );
    this.#storing -= 1;
    if (result === 'stored') {
      this.#full.delete(parked.key);
      this.#note(parked.key, reason, entries.length);
      executor.stored(parked);
    } else if (result === 'fenced') {
      this.#fenced();
    } else if (result === 'full' && !executor.notStoredForWantOfRoom(parked)) {
      this.#fill(parked.key, entries[0]?.event.position);
    }
    this.#options.changed();
    this.pump();
  }

  #fill(key: string, position: string | undefined): void {
    if (this.#full.has(key)) return;
    this.#full.add(key);
    this.#options.log.error(
      { key, position },
      'the dead-letter table is full, or does not take the next event: this parked key holds its place in the log; other keys go on. Release or discard letters',
    );
  }

  #hasReached(key: string): void {
    this.#ahead.delete(key);
    this.#options.executor.divert(key);
    this.#waiting.get(key)?.();
    this.#waiting.delete(key);
  }

  #untilReached(key: string): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(key, resolve);
      this.#options.changed();
    });
  }

  #happened({ key, attempt, head }: Strand, what: 'parked' | 'skipped' | 'halted'): void {
    this.#options.happenings.add(key, { what, attempt, position: head.event.position });
  }

  /** So many events of a key are in the table now. */
  #note(key: string, reason: StoredReason, count: number): void {
    const { ledger, whose } = this.#options.term;
    ledger.lettersStored[reason] += count;
    tell('strandline:letters:stored', () => ({ ...whose, key, reason, count }));
  }

  #tellParked(key: string): void {
    tell('strandline:key:parked', () => ({ ...this.#options.term.whose, key }));
  }

  #say(strand: Strand, error: unknown, what: string): void {
    const { key, attempt } = strand;
    const { id, position } = strand.head.event;
    this.#options.log.error(
      { key, position, id, attempt, err: errorFields(error) },
      `handler failed for good: ${what}`,
    );
  }

  #halt(strand: Strand, error: unknown, what: string): void {
    const { key, attempt } = strand;
    const { position } = strand.head.event;
    this.#options.executor.halt(strand);
    this.#happened(strand, 'halted');
    this.#options.log.error(
      { key, position, attempt, err: errorFields(error) },
      `${what}: this key is halted and holds its place in the log; other keys go on. Correct the cause and have it retried, or restart`,
    );
  }

  #fenced(): void {
    this.#options.fenced(
      new OwnershipLostError('A newer owner has taken the dead-letter table of this pipeline.'),
    );
  }

  #work(job: Promise<void>): void {
    this.#jobs += 1;
    void job.finally(() => {
      this.#jobs -= 1;
      if (this.#jobs === 0) this.#idle?.();
    });
  }
}

function letterOf(strand: Strand, error: unknown): NewLetter {
  const { event } = strand.head;
  const { isError } = readThrown(error);
  const reason: LetterReason = isError && error instanceof HandlerCrashError ? 'crash' : 'failed';
  return { event, reason, failure: failureOf(strand, error) };
}

function failureOf(strand: Strand, error: unknown): Failure {
  const now = Date.now() - performance.now();
  const at = (time: number): string => new Date(now + time).toISOString();
  return {
    error: letterError(error),
    attempts: strand.attempt,
    firstFailedAt: at(strand.firstFailedAt),
    lastFailedAt: at(strand.lastFailedAt),
    history: timedBy(strand.failureHistory, at),
  };
}

/** What the database does not take, such as a letter that is too large for it, can be stored no more than in a full table. */
function orFull(stored: Promise<LetterResult>): Promise<LetterResult> {
  return stored.catch((error: unknown) => {
    if (error instanceof StrandlineError && error.code === 'LETTERS_REFUSED') return 'full';
    throw error;
  });
}
