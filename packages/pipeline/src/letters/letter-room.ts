import {
  OwnershipLostError,
  type CrashRecord,
  type DeadLetterStore,
  type Executor,
  type LetterFence,
  type LetterResult,
  type Logger,
  type OutboxEvent,
  type ParkedKey,
  type Strand,
} from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from '../config.js';
import type { Happenings } from '../control/happenings.js';
import type { Doubt } from '../doubt.js';
import { errorFields } from '../error-fields.js';
import { LettersAtHand } from './letters-at-hand.js';
import { Parking } from './parking.js';
import { Releaser } from './releaser.js';
import { Schedule } from './schedule.js';
import { Suspects } from './suspects.js';
import type { Term } from '../term.js';

/** Milliseconds between looks for letters that are no longer needed. */
const PRUNING = 10_000;
/** Letters that one transaction forgets. */
const PRUNED = 1_000;

/** The dead-letter table of a pipeline, as its owner has taken it. */
export interface ClaimedLetters {
  readonly store: DeadLetterStore;
  readonly fence: LetterFence;
  readonly keys: readonly ParkedKey[];
  readonly crashes: CrashRecord;
}

export interface LetterRoomOptions {
  readonly config: PipelineConfig;
  readonly claimed: ClaimedLetters;
  readonly executor: Executor;
  /** Where everything is settled at the start. */
  readonly watermark: string;
  readonly compare: (a: string, b: string) => number;
  readonly term: Term;
  readonly doubt: Doubt;
  readonly happenings: Happenings;
  readonly log: Logger;
  /** How many of the events that were settled are saved. */
  readonly savedSettled: () => number;
  /** Something was settled, or may run. */
  readonly changed: () => void;
  readonly lost: (error: OwnershipLostError) => void;
  readonly failed: (error: unknown) => void;
}

/** What a run does with events that can't be handled: stores them, works them off when somebody releases them. */
export class LetterRoom {
  readonly #options: LetterRoomOptions;
  readonly #letters: LettersAtHand;
  readonly #parking: Parking;
  readonly #releaser: Releaser;
  readonly #suspects: Suspects;
  #prunedAt = 0;
  #pruning: Promise<void> | null = null;
  #closed = false;

  constructor(options: LetterRoomOptions) {
    const { config, claimed, executor, watermark, compare, term, happenings, log } = options;
    const { changed, lost, failed } = options;
    const { store, fence, keys, crashes } = claimed;
    this.#options = options;
    this.#letters = new LettersAtHand({ log, failed });
    const schedule = new Schedule(config.parking.schedule);
    const letters = this.#letters;
    const common = { config, store, fence, executor, letters, schedule, happenings, log, changed };
    this.#parking = new Parking({
      ...common,
      compare,
      fenced: lost,
      parked: (key) => {
        this.#releaser.parked(key);
      },
    });
    this.#suspects = new Suspects({
      ...common,
      doubt: options.doubt,
      crashes,
      window: config.window.events,
      cleared: () => {
        executor.limit(config.concurrency, config.batch?.max ?? 1);
        changed();
      },
    });
    this.#releaser = new Releaser({
      ...common,
      compare,
      term,
      doubt: options.doubt,
      parking: this.#parking,
      suspects: this.#suspects,
      savedSettled: options.savedSettled,
      fenced: () => {
        lost(new OwnershipLostError('A newer owner has taken the dead-letter table of this pipeline.'));
      },
    });
    this.#parking.know(keys, watermark);
    if (this.#suspects.active) executor.limit(1, 1);
  }

  /** The table answers. */
  get available(): boolean {
    return this.#letters.available;
  }

  /** Keys whose letters are being worked off. */
  get releasing(): readonly string[] {
    return this.#releaser.keys;
  }

  /** Parked keys that hold the log, for the table has no room. */
  get fullKeys(): readonly string[] {
    return this.#parking.fullKeys;
  }

  get suspecting(): boolean {
    return this.#suspects.active;
  }

  /** The handler for live events: the config's own, unless there are suspects. */
  handler(): Handler | BatchHandler {
    const { config } = this.#options;
    return this.#suspects.active ? this.#suspects.watch(config) : config.handle;
  }

  start(): void {
    this.#releaser.start();
  }

  reached(event: OutboxEvent): void {
    this.#parking.reached(event);
  }

  admitted(event: OutboxEvent): void {
    this.#parking.admitted(event);
  }

  passed(position: string): void {
    this.#parking.passed(position);
  }

  exhausted(strand: Strand, error: unknown): void {
    this.#parking.exhausted(strand, error);
  }

  /** An operator gives up the head of a strand: see `Parking.byHand`. */
  byHand(strand: Strand, how: 'park' | 'skip'): Promise<LetterResult | null> {
    return this.#parking.byHand(strand, how);
  }

  /** A halted strand is about to be tried again: see `Parking.restore`. */
  restore(strand: Strand): boolean {
    return this.#parking.restore(strand);
  }

  overflow(key: string): void {
    this.#parking.overflow(key);
  }

  /** Stores what was admitted of parked keys. */
  pump(): void {
    this.#parking.pump();
  }

  /** Something was settled. */
  settled(): void {
    this.#releaser.look();
    if (this.#suspects.active && this.#options.executor.unsettled === 0) this.#suspects.clear();
  }

  /** The offset is saved up to here. */
  saved(watermark: string): void {
    this.#releaser.look();
    const now = performance.now();
    if (this.#pruning !== null || now - this.#prunedAt < PRUNING) return;
    this.#prunedAt = now;
    this.#pruning = this.#prune(watermark).finally(() => {
      this.#pruning = null;
    });
  }

  /** Starts nothing more. */
  stopTaking(): void {
    this.#releaser.stopTaking();
    this.#parking.stopWaiting();
    this.#letters.stopRetrying();
  }

  /** Whether the log may still bring what comes before the letters of a key. */
  isAhead(key: string): boolean {
    return this.#parking.isAhead(key);
  }

  /** What was parked can be stored only when more of the log is read. */
  get waitsForLog(): boolean {
    return this.#parking.waitsForLog;
  }

  abort(reason: unknown): void {
    this.#suspects.abort();
    this.#releaser.abort(reason);
  }

  /** Resolves when no letter is in flight, and nothing is being stored. */
  async idle(): Promise<void> {
    await this.#releaser.idle();
    await this.#parking.idle();
  }

  /** @param inOrder nothing of the run is left behind: the next owner need suspect nothing */
  async close(inOrder: boolean): Promise<void> {
    this.#closed = true;
    this.stopTaking();
    await this.#pruning;
    if (!inOrder) return;
    const { store, fence } = this.#options.claimed;
    await store.release(fence).catch((error: unknown) => {
      this.#options.log.warn(
        { err: errorFields(error) },
        'the end in order can not be noted in the dead-letter table',
      );
    });
  }

  async #prune(watermark: string): Promise<void> {
    const { claimed, compare, log } = this.#options;
    try {
      const isSettled = (position: string): boolean => compare(position, watermark) <= 0;
      let pruned = PRUNED;
      while (pruned === PRUNED && !this.#closed)
        pruned = await claimed.store.prune(claimed.fence, isSettled, PRUNED);
    } catch (error) {
      log.debug({ err: errorFields(error) }, 'letters that are handled can not be forgotten now');
    }
  }
}
