import type { Executor, Logger, Strand } from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from './config.js';
import type { Happenings } from './control/happenings.js';
import type { Doubt } from './doubt.js';
import { errorFields } from './error-fields.js';
import { HandlerTimeoutError } from './errors.js';
import { TurnContext } from './handler-context.js';
import { LinkedSet, type Linked } from './linked-set.js';
import { NOT_CALLED } from './not-called.js';
import type { Term } from './term.js';

/** Milliseconds that handlers may run on without letting sockets and timers have a turn. */
const SLICE = 10;
/** A turn takes too long when it has seen more sweeps than that: between one time-out and one and a quarter. */
const SWEEPS = 4;

/**
 * A place for one running turn, used again and again: its callbacks are made once, so that a turn costs no
 * closure.
 */
class Slot implements Linked<Slot> {
  older: Slot | null = null;
  newer: Slot | null = null;
  strand: Strand | null = null;
  ctx: TurnContext | null = null;
  /** Sweeps that it has seen: a clock per turn would cost more. */
  sweeps = 0;
  /** When it was called, by the clock of the wall, which was read for the slice anyway. */
  startedAt = 0;
  /** When it was found to take too long, by the monotonic clock; NaN before. */
  stuckAt = NaN;
  readonly fulfilled: (result: unknown) => void;
  readonly rejected: (error: unknown) => void;

  constructor(dispatcher: Dispatcher) {
    this.fulfilled = (result) => {
      if (result === NOT_CALLED) dispatcher.putBack(this);
      else dispatcher.ended(this, null);
    };
    this.rejected = (error) => {
      dispatcher.ended(this, { error });
    };
  }
}

/** A handler that has not ended when it should have. */
export interface StuckTurn {
  readonly key: string;
  /** Of the event, or of the first one of its batch. */
  readonly id: string;
  readonly position: string;
  readonly attempt: number;
  /** Milliseconds since it was called, at least. */
  readonly age: number;
}

/** A handler that was called and has not ended. */
export interface RunningTurn {
  readonly strand: Strand;
  /** Of this turn and no other. */
  readonly context: TurnContext;
  /** It takes longer than `handlerTimeout`. */
  readonly stuck: boolean;
  /** When it was called, Unix milliseconds. */
  readonly startedAt: number;
}

export interface DispatcherOptions {
  readonly executor: Executor;
  readonly config: PipelineConfig;
  /** The handler of the config, or what watches it. */
  readonly handle: Handler | BatchHandler;
  readonly term: Term;
  readonly doubt: Doubt;
  readonly log: Logger;
  /** Told of what fails and what takes too long. */
  readonly happenings?: Happenings;
  /** No retry can help: somebody must say what becomes of the strand. Without anybody it halts. */
  readonly exhausted?: (strand: Strand, error: unknown) => void;
  /** A turn has ended: there may be room in the window or among the keys that wait, and something to commit. */
  readonly settled: () => void;
}

/** Runs what the executor hands out: calls handlers, awaits them, and reports back how they ended. */
export class Dispatcher {
  readonly #executor: Executor;
  readonly #options: DispatcherOptions;
  readonly #handle: Handler | BatchHandler;
  readonly #batched: boolean;
  readonly #free: Slot[] = [];
  /** Longest-running first. */
  readonly #busy = new LinkedSet<Slot>();
  #taking = true;
  /** By the clock of the wall, read once a turn for this and for the doubt; 0 while no slice is open. */
  #sliceStart = 0;
  #yielded = false;
  #wakeTimer: NodeJS.Timeout | undefined;
  #wakeAt = Infinity;
  #idle: (() => void) | null = null;
  #calling = false;
  readonly #sweeper: NodeJS.Timeout | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#executor = options.executor;
    this.#handle = options.handle;
    this.#batched = options.config.batch !== undefined;
    const { handlerTimeout } = options.config;
    if (handlerTimeout < Infinity) {
      this.#sweeper = setInterval(() => {
        this.#sweep();
      }, handlerTimeout / SWEEPS).unref();
    }
  }

  /** Starts every turn that may start now. */
  pump(): void {
    if (this.#yielded) return;
    if (this.#sliceStart === 0) this.#openSlice();
    while (this.#taking) {
      const wall = Date.now();
      if (this.#options.doubt.inDoubtAt(wall)) break;
      // A clock that was set back ends the slice too.
      if (Math.abs(wall - this.#sliceStart) > SLICE) {
        this.#yielded = true;
        break;
      }
      const strand = this.#executor.take();
      if (strand === null) break;
      this.#run(strand, wall);
    }
    if (this.#idle !== null && this.#isIdle()) this.#idle();
  }

  /** Starts no more turns: what is in flight goes on. */
  stopTaking(): void {
    this.#taking = false;
    clearTimeout(this.#wakeTimer);
  }

  /** No turn is in flight and none will be. */
  close(): void {
    clearInterval(this.#sweeper);
  }

  /** Aborts the signals of all turns in flight. */
  abort(reason: unknown): void {
    for (const slot of this.#busy) slot.ctx?.abort(reason);
  }

  /** Resolves when no turn is in flight and none can start. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  /** A handler is being called right now, up to its first await. */
  get calling(): boolean {
    return this.#calling;
  }

  /** The keys whose handlers are running. */
  runningKeys(): string[] {
    return [...this.#busy].map((slot) => slot.strand?.key ?? '');
  }

  /** The turns in flight, longest-running first. */
  *turns(): Generator<RunningTurn> {
    for (const { strand, ctx, stuckAt, startedAt } of this.#busy)
      if (strand !== null && ctx !== null)
        yield { strand, context: ctx, stuck: !Number.isNaN(stuckAt), startedAt };
  }

  /** The turns that take too long, oldest first. */
  stuck(): StuckTurn[] {
    const now = performance.now();
    return [...this.#busy].flatMap(({ strand, stuckAt }) => {
      if (strand === null || Number.isNaN(stuckAt)) return [];
      const { id, position } = strand.head.event;
      const age = Math.round(now - stuckAt + this.#options.config.handlerTimeout);
      return [{ key: strand.key, id, position, attempt: strand.attempt, age }];
    });
  }

  /** Called by a slot whose turn did not begin. */
  putBack(slot: Slot): void {
    const { strand } = slot;
    if (strand === null) return;
    this.#release(slot, strand, false);
    this.#executor.putBack(strand);
    this.pump();
  }

  /** Called by a slot. */
  ended(slot: Slot, failure: { readonly error: unknown } | null): void {
    const { strand, ctx } = slot;
    if (strand === null) return;
    this.#release(slot, strand, failure === null);
    if (failure === null) this.#executor.succeed(strand);
    else this.#fail(strand, failure.error, ctx?.notBefore ?? 0);
    this.#options.settled();
    this.pump();
  }

  #release(slot: Slot, strand: Strand, succeeded: boolean): void {
    if (!Number.isNaN(slot.stuckAt)) this.#endStuck(slot, strand, succeeded);
    slot.strand = null;
    slot.ctx = null;
    this.#busy.remove(slot);
    this.#free.push(slot);
  }

  #run(strand: Strand, wall: number): void {
    const ctx = new TurnContext(strand.head.event, strand.attempt, this.#options.term);
    let result: unknown;
    this.#calling = true;
    try {
      result = this.#batched
        ? (this.#handle as BatchHandler)(strand.inFlightEvents(), ctx)
        : (this.#handle as Handler)(strand.head.event, ctx);
    } catch (error) {
      this.#calling = false;
      this.#fail(strand, error, ctx.notBefore);
      this.#options.settled();
      return;
    }
    this.#calling = false;
    if (isThenable(result)) {
      const slot = this.#free.pop() ?? new Slot(this);
      slot.strand = strand;
      slot.ctx = ctx;
      slot.sweeps = 0;
      slot.startedAt = wall;
      this.#busy.add(slot);
      // A promise stays itself; what only looks like one can no more settle twice, at once, or by a throw.
      void Promise.resolve(result).then(slot.fulfilled, slot.rejected);
      return;
    }
    // A plain value settles here and now: no promise, no turn of the event loop.
    this.#executor.succeed(strand);
    this.#options.settled();
  }

  #fail(strand: Strand, error: unknown, notBefore: number): void {
    const { key, attempt } = strand;
    const { position } = strand.head.event;
    this.#options.happenings?.add(key, { what: 'failed', position, attempt, thrown: error });
    const decision = this.#executor.fail(strand, error, performance.now(), notBefore);
    const fields = { key, position, attempt, err: errorFields(error) };
    if (decision.outcome === 'retry') {
      this.#options.log.warn(fields, 'handler failed: trying again');
      this.#wakeNoLaterThan(decision.dueAt);
    } else if (decision.outcome === 'held') {
      this.#options.log.warn(
        fields,
        'handler failed: its key is held, and it is tried again when it is released',
      );
    } else if (this.#executor.narrow(strand)) {
      this.#options.log.warn(fields, 'a batch failed for good: its events are tried one by one');
    } else if (this.#options.exhausted !== undefined) {
      this.#options.exhausted(strand, error);
    } else {
      this.#executor.halt(strand);
      this.#options.log.error(
        fields,
        'handler failed for good: this key is halted and holds its place in the log; other keys go on. Correct the cause and have it retried, or restart',
      );
    }
  }

  /** Looks for turns that take too long. */
  #sweep(): void {
    for (const slot of this.#busy) {
      slot.sweeps += 1;
      if (slot.sweeps > SWEEPS && Number.isNaN(slot.stuckAt)) this.#startStuck(slot);
    }
    // Their places are others' now.
    this.pump();
  }

  #startStuck(slot: Slot): void {
    const { strand, ctx } = slot;
    if (strand === null) return;
    slot.stuckAt = performance.now();
    this.#executor.tooLong(strand);
    const { id, position } = strand.head.event;
    this.#options.happenings?.add(strand.key, { what: 'stuck', position, attempt: strand.attempt });
    const { handlerTimeout } = this.#options.config;
    this.#options.log.warn(
      { key: strand.key, position, id, attempt: strand.attempt, handlerTimeout },
      'handler takes too long: its signal is aborted, and its key waits until it has ended',
    );
    ctx?.abort(new HandlerTimeoutError(handlerTimeout));
  }

  #endStuck(slot: Slot, strand: Strand, succeeded: boolean): void {
    const { position } = strand.head.event;
    const late = Math.round(performance.now() - slot.stuckAt);
    slot.stuckAt = NaN;
    this.#options.log.info(
      { key: strand.key, position, late, succeeded },
      'a handler that took too long has ended',
    );
  }

  /** One timer for all strands in backoff: the next one that is due. */
  #wakeNoLaterThan(dueAt: number): void {
    if (!this.#taking || dueAt >= this.#wakeAt) return;
    clearTimeout(this.#wakeTimer);
    this.#wakeAt = dueAt;
    this.#wakeTimer = setTimeout(
      () => {
        this.#wakeAt = Infinity;
        const next = this.#executor.wake(performance.now());
        if (next !== null) this.#wakeNoLaterThan(next);
        this.pump();
      },
      Math.max(0, Math.ceil(dueAt - performance.now())),
    );
  }

  /**
   * Handlers that return at once, or promises that are resolved already, would run the whole window without a
   * turn of the event loop; the slice bounds that to some milliseconds.
   */
  #openSlice(): void {
    this.#sliceStart = Date.now();
    setImmediate(() => {
      this.#sliceStart = 0;
      if (!this.#yielded) return;
      this.#yielded = false;
      this.pump();
    });
  }

  #isIdle(): boolean {
    const { strands, running, stuck, backoff, exhausted, halted, held } = this.#executor.counts();
    if (running > 0 || stuck > 0) return false;
    if (!this.#taking || this.#executor.isPaused) return true;
    return strands === backoff + exhausted + halted + held;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
