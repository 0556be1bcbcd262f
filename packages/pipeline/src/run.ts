import {
  Executor,
  OwnershipLostError,
  type Controls,
  type Logger,
  type OutboxEvent,
  type SourceBatch,
  type SourceStream,
  type Strand,
} from '@strandline/core';
import { AlreadySettled } from './already-settled.js';
import { CommitLoop } from './commit-loop.js';
import type { PipelineConfig } from './config.js';
import { Happenings } from './control/happenings.js';
import { Interventions } from './control/interventions.js';
import { StandingOrders } from './control/standing-orders.js';
import { Doubt } from './doubt.js';
import { Dispatcher, type DispatcherOptions, type RunningTurn, type StuckTurn } from './dispatcher.js';
import { tell } from './events/channels.js';
import { Pauses } from './events/pauses.js';
import { LetterRoom, type ClaimedLetters } from './letters/letter-room.js';
import type { PauseReason } from './pause-reason.js';
import type { Ledger } from './report/ledger.js';
import { Term } from './term.js';
import { within } from './within.js';

/**
 * Places of the window that must be free before admission goes on: it saves a wake-up per event. Small beside
 * the window, so that keys that hold most of it leave the rest to the others.
 */
const HYSTERESIS = 64;
/**
 * Keys that wait for their turn, from which on no more is admitted: many more than run at once, so that no handler
 * lacks work and a key that holds the window up leaves it to the others. What is admitted beyond that only waits
 * here instead of in the log, and grows old in the heap meanwhile: collecting it cost as much as handling it.
 */
const READY = 1_024;
/** … and at least so many for each turn that may run. */
const READY_PER_TURN = 4;
/**
 * Events that are admitted before the handlers get a turn of the event loop. What they settle at once is gone by then;
 * without it few keys, or batches, would fill the window before their first event is handled, and grow old there.
 */
const ADMITTED_A_TURN = 512;
/** Milliseconds that handlers get after their signal was aborted. */
const ABORT_GRACE = 5_000;
/** Milliseconds of standstill after which a full window is reported. */
const STANDSTILL = 2_000;

export interface RunOptions {
  readonly config: PipelineConfig;
  readonly stream: SourceStream;
  readonly log: Logger;
  /** What the dead-letter table said when it was claimed; null without one. */
  readonly claimed: ClaimedLetters | null;
  /** What operators have ordered, as it was read after the offset was claimed; nobody orders anything of a replay. */
  readonly controls?: Controls;
  /** Told of what befalls keys. Default: nobody looks. */
  readonly happenings?: Happenings;
  /** Of a replay. */
  readonly replay?: ReplayedRun;
  /** Where what is done is counted, over several terms; a term of its own by default. */
  readonly ledger?: Ledger;
}

/** What a replay's run does otherwise than a live one. */
export interface ReplayedRun {
  /** The pipeline whose events these are. */
  readonly of: string;
  /** The first event that fails for good ends the run, with what this makes of it. */
  failed(strand: Strand, error: unknown): Error;
}

/**
 * One term of ownership: from a claimed offset until the log ends, the pipeline stops, or a newer owner is
 * found. The way of an event leads through here: stream → executor → handler → watermark → offset → log.
 */
export class Run {
  readonly executor: Executor;
  readonly commits: CommitLoop;
  readonly #options: RunOptions;
  readonly letters: LetterRoom | null;
  /** Null in a replay. */
  readonly orders: StandingOrders | null;
  readonly interventions: Interventions;
  readonly #happenings: Happenings;
  readonly #dispatcher: Dispatcher;
  readonly #term: Term;
  readonly #doubt: Doubt;
  /** The newest event that was admitted: when nothing waits, all that committed before it is settled. */
  #newest: OutboxEvent | null = null;
  readonly #settledBefore: AlreadySettled;
  readonly #enoughReady: number;
  /** Called when a wait should look again: room appeared, or the run is ending. */
  #wake: (() => void) | null = null;
  readonly #pauses: Pauses;
  /** Set when the run shall end: by `stop`, by a fault, or by the loss of ownership. */
  #end: { readonly error: unknown } | null = null;
  /** Resolved when `#end` is set. */
  readonly #ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  /** Resolved by `stop`. */
  readonly #stopped: Promise<void>;
  #resolveStopped: () => void = () => undefined;

  constructor(options: RunOptions) {
    const { config, stream, log } = options;
    const { offset } = stream;
    this.#options = options;
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    // A batch handler takes more at a time from a strand that was let grow.
    this.#enoughReady =
      config.batch === undefined ? Math.max(READY, READY_PER_TURN * config.concurrency) : Infinity;
    this.#settledBefore = new AlreadySettled(offset, (a, b) => stream.compare(a, b));
    this.executor = new Executor({
      start: offset.watermark,
      concurrency: config.concurrency,
      batch: config.batch?.max ?? 1,
      retry: config.retry,
      random: Math.random,
    });
    this.#happenings = options.happenings ?? new Happenings();
    this.#term = new Term(config, log, options.replay?.of, options.ledger);
    this.#pauses = new Pauses(this.#term);
    this.#doubt = new Doubt({
      log,
      prove: stream.proveOwnership === undefined ? null : async () => stream.proveOwnership?.(),
      over: () => {
        this.#dispatcher.pump();
      },
    });
    const letters = this.#openLetters();
    this.letters = letters;
    this.#dispatcher = new Dispatcher({
      executor: this.executor,
      config,
      handle: letters?.handler() ?? config.handle,
      term: this.#term,
      doubt: this.#doubt,
      log,
      happenings: this.#happenings,
      ...this.#whenExhausted(),
      settled: () => {
        this.#onSettled();
      },
    });
    this.commits = new CommitLoop({
      config,
      executor: this.executor,
      offset,
      identity: () => stream.identity,
      completed: () => this.#settledBefore.joinedTo(this.executor.completed()),
      settledBefore: () => this.settledBefore,
      log,
      saved: (watermark, settledBefore) => {
        this.#term.settledBefore = settledBefore;
        stream.confirm(watermark);
        this.letters?.saved(watermark);
        this.#look();
      },
      failed: (error) => {
        this.#endWith(error);
      },
      committed: (commit) => {
        const { ledger, whose } = this.#term;
        ledger.commits[commit.result] += 1;
        tell('strandline:commit:end', () => ({ ...whose, ...commit }));
      },
      fenced: () => {
        this.#lose(new OwnershipLostError('A newer owner has claimed the offset of this pipeline.'));
      },
    });
    this.orders = this.#openOrders();
    this.#pauses.ordered(this.executor.isPaused);
    this.interventions = new Interventions({
      ...{ executor: this.executor, letters, orders: this.orders, happenings: this.#happenings, log },
      changed: () => {
        this.#goOn();
      },
    });
  }

  get stream(): SourceStream {
    return this.#options.stream;
  }

  get paused(): PauseReason | null {
    return this.#pauses.reason;
  }

  /** The newest event that was admitted. */
  get newest(): OutboxEvent | null {
    return this.#newest;
  }

  /** What committed before this time is settled, by the outbox's clock; null while it isn't known. */
  get settledBefore(): string | null {
    return (this.executor.oldest ?? this.#newest)?.transaction.commitTime ?? null;
  }

  /** The turns in flight, longest-running first. */
  turns(): Iterable<RunningTurn> {
    return this.#dispatcher.turns();
  }

  /** Whether the caller is a handler, before its first await. */
  get insideHandler(): boolean {
    return this.#dispatcher.calling;
  }

  /** Stops reading and starting turns; `run` does the rest. */
  stop(): void {
    this.#resolveStopped();
    this.#endWith(null);
  }

  /**
   * Reads until the run ends; then finishes what is in flight, saves the offset and releases the log. Rejects
   * with what ended it, if that was not `stop`.
   */
  async run(): Promise<void> {
    const { lost } = this.stream;
    const onLost = (): void => {
      this.#lose(lost.reason);
    };
    lost.addEventListener('abort', onLost);
    // It may have been lost between opening and here.
    if (lost.aborted) onLost();
    this.stream.onDoubt?.((inDoubt) => {
      this.#doubt.set(inDoubt);
    });
    this.commits.start();
    this.letters?.start();
    this.orders?.start();
    try {
      await this.#readAll();
    } catch (error) {
      this.#end ??= { error };
    }
    const { error } = this.#end ?? { error: null };
    if (error instanceof OwnershipLostError) await this.#abandon(error);
    else await this.#finish();
    lost.removeEventListener('abort', onLost);
    // What a source or store threw is passed on as it is.
    // oxlint-disable-next-line typescript/only-throw-error
    if (error !== null) throw error;
  }

  /** Reads until the log or the run ends. */
  async #readAll(): Promise<void> {
    const reading = this.#read();
    // When the run ends first, nobody waits for the batch that is under way: closing the stream ends it.
    reading.catch(() => undefined);
    // One race for the whole run: one for each batch kept batches alive long after they were handled.
    await Promise.race([reading, this.#ended]);
  }

  async #read(): Promise<void> {
    const batches = this.stream.read()[Symbol.asyncIterator]();
    let admitted = 0;
    while (!this.#isEnding()) {
      const next = await batches.next();
      if (next.done === true || this.#isEnding()) return;
      await this.#admit(next.value);
      admitted += next.value.events.length;
      if (admitted < ADMITTED_A_TURN) continue;
      admitted = 0;
      await turn();
    }
  }

  #isEnding(): boolean {
    return this.#end !== null;
  }

  async #admit(batch: SourceBatch): Promise<void> {
    let admitted = 0;
    let duplicates = 0;
    for (const event of batch.events) {
      this.letters?.reached(event);
      const known = this.#settledBefore.passed ? 'new' : this.#settledBefore.lookUp(event.position);
      if (known === 'settled') this.executor.pass(event.position);
      if (known !== 'new') duplicates += 1;
      if (known === 'new') {
        if (this.#lacking(0, event.key) !== null) {
          await this.#room(event.key);
          if (this.#end !== null) return;
        }
        this.executor.admit(event);
        admitted += 1;
        this.#newest = event;
      }
      this.letters?.admitted(event);
    }
    if (batch.passed !== null && this.#settledBefore.lookUp(batch.passed) !== 'behind') {
      this.executor.pass(batch.passed);
      this.letters?.passed(batch.passed);
    }
    const { ledger, whose } = this.#term;
    ledger.duplicates += duplicates;
    if (admitted + duplicates > 0)
      tell('strandline:batch:admitted', () => ({ ...whose, admitted, duplicates }));
    this.letters?.pump();
    this.#dispatcher.pump();
  }

  /** What stands against admitting one more event of a key, with some places to spare. */
  #lacking(spare: number, key: string): Exclude<PauseReason, 'operator'> | null {
    const { window, maxPerKey, overflow } = this.#options.config;
    if (
      maxPerKey < Infinity &&
      this.executor.queued(key) >= maxPerKey &&
      this.letters?.isAhead(key) !== true
    ) {
      if (overflow === 'pause') return 'key';
      this.letters?.overflow(key);
    }
    const { executor } = this;
    if (executor.unsettled + spare >= window.events || executor.bytes >= window.bytes) {
      // A single event larger than the window must still pass, and so must what the window itself waits for.
      if (executor.unsettled > 0 && this.letters?.waitsForLog !== true) return 'window';
    }
    if (this.commits.unsaved >= window.events) return 'offsets';
    return executor.ready + spare >= this.#enoughReady ? 'handlers' : null;
  }

  async #room(key: string): Promise<void> {
    const { window } = this.#options.config;
    const spare = Math.min(HYSTERESIS, Math.floor(window.events / 8));
    this.#pauses.lacks(this.#lacking(0, key));
    // What takes the room may be what this batch has brought before.
    this.letters?.pump();
    this.#dispatcher.pump();
    const report = setTimeout(() => {
      this.#reportStandstill();
    }, STANDSTILL);
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        const lacking = this.#lacking(spare, key);
        if (this.#end !== null || lacking === null) resolve();
        else this.#pauses.lacks(lacking);
      };
      this.#wake();
    });
    clearTimeout(report);
    this.#wake = null;
    this.#pauses.lacks(null);
  }

  #reportStandstill(): void {
    const { log } = this.#options;
    const { halted, held, unsettled, bytes } = this.executor.counts();
    if (this.#pauses.lacking === 'offsets') {
      log.warn(
        { unsaved: this.commits.unsaved },
        'paused: the offset store is away, and no more may be settled unsaved',
      );
    } else if (halted > 0 || held > 0) {
      log.warn(
        { halted, held, unsettled, bytes },
        'paused: the window is full, and keys that are halted or held have places in it',
      );
    }
  }

  #onSettled(): void {
    this.commits.hurry();
    this.letters?.settled();
    this.interventions.look();
    this.#look();
  }

  /** Keys may run, or be stored, that could not before. */
  #goOn(): void {
    this.#onSettled();
    this.letters?.pump();
    this.#dispatcher.pump();
  }

  /** What becomes of a strand that no retry could help; nothing is said for one that halts. */
  #whenExhausted(): Pick<DispatcherOptions, 'exhausted'> {
    const { letters } = this;
    if (letters !== null) {
      return {
        exhausted: (strand, error) => {
          letters.exhausted(strand, error);
        },
      };
    }
    const { replay } = this.#options;
    if (replay === undefined) return {};
    return {
      exhausted: (strand, error) => {
        this.executor.halt(strand);
        this.#endWith(replay.failed(strand, error));
      },
    };
  }

  #openLetters(): LetterRoom | null {
    const { config, stream, log, claimed } = this.#options;
    if (claimed === null) return null;
    return new LetterRoom({
      config,
      claimed,
      executor: this.executor,
      watermark: stream.offset.watermark,
      compare: (a, b) => stream.compare(a, b),
      term: this.#term,
      doubt: this.#doubt,
      happenings: this.#happenings,
      log,
      savedSettled: () => this.commits.savedSettled,
      changed: () => {
        this.#onSettled();
        this.#dispatcher.pump();
      },
      lost: (error) => {
        this.#lose(error);
      },
      failed: (error) => {
        this.#endWith(error);
      },
    });
  }

  #openOrders(): StandingOrders | null {
    const { config, controls, log } = this.#options;
    if (controls === undefined) return null;
    return new StandingOrders({
      pipeline: config.name,
      store: config.offsets.controls,
      controls,
      executor: this.executor,
      happenings: this.#happenings,
      log,
      changed: () => {
        this.#pauses.ordered(this.executor.isPaused);
        this.#goOn();
      },
      failed: (error) => {
        this.#endWith(error);
      },
    });
  }

  #look(): void {
    this.#wake?.();
  }

  #endWith(error: unknown): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.#resolveEnded();
    this.#stopTaking();
    this.#look();
  }

  /**
   * Another process may own the pipeline. Also when the run was ending anyhow: nothing more may start beside the
   * owner's handlers, and those that it waits for must not go on.
   */
  #lose(lost: unknown): void {
    this.#endWith(lost);
    this.#stopTaking();
    this.#abort(lost);
  }

  #stopTaking(): void {
    this.#dispatcher.stopTaking();
    this.letters?.stopTaking();
  }

  #abort(reason: unknown): void {
    this.#dispatcher.abort(reason);
    this.letters?.abort(reason);
  }

  /** Resolves when no handler runs, and nothing is being stored. */
  async #idle(): Promise<void> {
    await this.#dispatcher.idle();
    await this.letters?.idle();
  }

  /** The turns are over, or are given up. */
  async #close(inOrder: boolean): Promise<void> {
    this.#dispatcher.close();
    this.#doubt.close();
    this.orders?.close();
    this.interventions.close();
    await this.letters?.close(inOrder);
  }

  async #finish(): Promise<void> {
    const { config } = this.#options;
    // After a fault of the log what was admitted before it is still delivered: `#endWith` was not called then. Not so
    // when the log may be another owner's.
    if (this.#doubt.inDoubt) this.#stopTaking();
    this.#dispatcher.pump();
    let idle = await within(config.drainTimeout, this.#idle());
    if (!idle) {
      this.#stopTaking();
      this.#abort(new Error('The pipeline stops, and the time to drain is over'));
      idle = await within(ABORT_GRACE, this.#idle());
    }
    if (!idle) this.#warnOfUnended();
    this.#stopTaking();
    await this.commits.finish();
    await this.#close(true);
    await this.stream.close();
  }

  /**
   * Somebody else may be running these keys by now: tell the handlers, and wait until the last one has ended,
   * unless the pipeline is stopped meanwhile: then nothing starts here again.
   */
  async #abandon(error: OwnershipLostError): Promise<void> {
    this.#stopTaking();
    this.#abort(error);
    await this.stream.close();
    // What was settled is saved if nobody has claimed the offset yet; the epoch keeps us out if somebody has.
    await this.commits.finish();
    const { config, log } = this.#options;
    const idle = this.#idle();
    void idle.then(() => this.#close(false));
    if (await within(config.drainTimeout, idle)) return;
    log.warn(
      { keys: this.#someRunningKeys() },
      'handlers do not heed their signal: this process can not stand by before they have ended',
    );
    await Promise.race([idle, this.#stopped]);
    if (!(await within(ABORT_GRACE, idle))) this.#warnOfUnended();
  }

  #warnOfUnended(): void {
    this.#options.log.warn(
      { keys: this.#someRunningKeys() },
      'handlers did not end in time: their events will be delivered again',
    );
  }

  #someRunningKeys(): string[] {
    return this.#dispatcher.runningKeys().slice(0, 10);
  }

  /** Handlers that have not ended when they should have. */
  get stuck(): readonly StuckTurn[] {
    return this.#dispatcher.stuck();
  }
}

/** A turn of the event loop: all that is resolved by now has gone on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
