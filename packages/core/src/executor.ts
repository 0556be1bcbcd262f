import { BackoffHeap } from './backoff-heap.js';
import { invariant } from './errors.js';
import type { OutboxEvent } from './event.js';
import type { Position, PositionRange } from './position.js';
import { ReadyQueue } from './ready-queue.js';
import { nextDelay, type RetryPolicy } from './retry-policy.js';
import { Entry, Strand } from './strand.js';
import { Watermark } from './watermark.js';

export interface ExecutorOptions {
  /** Where the watermark starts. */
  readonly start: Position;
  /** How many strands may run at once. */
  readonly concurrency: number;
  /** How many consecutive events of one key one turn takes at most. */
  readonly batch: number;
  readonly retry: RetryPolicy;
  /** A number in [0, 1) per call. */
  readonly random: () => number;
}

/** What the executor decided about a failed turn. */
export type FailureDecision =
  | { readonly outcome: 'retry'; /** On the clock that `fail` was given. */ readonly dueAt: number }
  | { readonly outcome: 'halt' };

/** Counts for status and metrics. */
export interface ExecutorCounts {
  /** Events admitted and not settled. */
  readonly unsettled: number;
  /** Their size in bytes. */
  readonly bytes: number;
  /** Keys that have events here. */
  readonly strands: number;
  readonly running: number;
  readonly backoff: number;
  readonly halted: number;
  /** Events settled since the start. */
  readonly settled: number;
}

/**
 * Decides what runs when: a state machine without clock, promise or I/O. The shell around it feeds in what
 * happened (`admit`, `pass`, `succeed`, `fail`, `wake`) and runs what `take` hands out.
 *
 * Invariants:
 * - a strand is in exactly one of: the ready queue, running, the backoff heap, halted;
 * - an event is on exactly one strand until it is settled, and is settled once;
 * - of one key, only the events of one turn are in flight, and they are the oldest ones.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #strands = new Map<string, Strand>();
  readonly #ready = new ReadyQueue();
  readonly #backoff = new BackoffHeap();
  readonly #watermark: Watermark;
  #running = 0;
  #halted = 0;
  #bytes = 0;
  #settled = 0;

  constructor(options: ExecutorOptions) {
    invariant(options.concurrency >= 1, 'an executor without concurrency would never run anything');
    invariant(options.batch >= 1, 'a turn without events would never settle its head');
    this.#options = options;
    this.#watermark = new Watermark(options.start);
  }

  /** Puts the next event, in the source's order, on its strand. */
  admit(event: OutboxEvent): void {
    const entry = new Entry(event);
    this.#watermark.append(entry);
    this.#bytes += event.bytes;
    let strand = this.#strands.get(event.key);
    if (strand === undefined) {
      strand = new Strand(event.key);
      this.#strands.set(event.key, strand);
      this.#ready.push(strand);
    }
    strand.push(entry);
  }

  /** Records that the source has passed a position that needs no work (any more). */
  pass(position: Position): void {
    this.#watermark.pass(position);
  }

  /** The strand whose turn it is, now running, with its events in flight; null when none may run. */
  take(): Strand | null {
    if (this.#running >= this.#options.concurrency) return null;
    const strand = this.#ready.shift();
    if (strand === null) return null;
    strand.become('running');
    // A failed turn is tried again with the same events, whatever has queued up behind them since.
    if (strand.attempt === 0) strand.inFlight = Math.min(this.#options.batch, strand.length);
    strand.attempt += 1;
    this.#running += 1;
    return strand;
  }

  /** The turn of a running strand succeeded: its events are settled. */
  succeed(strand: Strand): void {
    const count = strand.inFlight;
    this.#endTurn(strand);
    for (let i = 0; i < count; i += 1) {
      const entry = strand.shift();
      this.#bytes -= entry.event.bytes;
      this.#watermark.settle(entry);
    }
    this.#settled += count;
    strand.inFlight = 0;
    strand.become('ready');
    if (strand.length > 0) this.#ready.push(strand);
    else this.#strands.delete(strand.key);
  }

  /** The turn of a running strand failed: its head stays the head, now or for good. */
  fail(strand: Strand, error: unknown, now: number): FailureDecision {
    this.#endTurn(strand);
    strand.lastError = error;
    if (Number.isNaN(strand.firstFailedAt)) strand.firstFailedAt = now;
    const { retry, random } = this.#options;
    const delay = nextDelay(retry, strand.attempt, now - strand.firstFailedAt, error, random());
    if (delay === null) {
      strand.become('halted');
      this.#halted += 1;
      return { outcome: 'halt' };
    }
    strand.become('backoff');
    strand.dueAt = now + delay;
    this.#backoff.push(strand);
    return { outcome: 'retry', dueAt: strand.dueAt };
  }

  /** Makes ready every strand whose backoff is over. Returns when the next one is due, or null. */
  wake(now: number): number | null {
    for (let strand = this.#backoff.popDue(now); strand !== null; strand = this.#backoff.popDue(now)) {
      strand.become('ready');
      strand.dueAt = NaN;
      this.#ready.push(strand);
    }
    return this.#backoff.nextDueAt;
  }

  /** Everything up to here, inclusive, is settled. */
  get watermark(): Position {
    return this.#watermark.position;
  }

  /** The settled runs above the watermark. */
  completed(): PositionRange[] {
    return this.#watermark.completed();
  }

  /** Events admitted and not settled: what the window limits. */
  get unsettled(): number {
    return this.#watermark.unsettled;
  }

  /** Size of the unsettled events in bytes: what the window limits. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Events settled since the start. */
  get settled(): number {
    return this.#settled;
  }

  /** Keys that wait for their turn and could have it now. */
  get ready(): number {
    return this.#ready.size;
  }

  get running(): number {
    return this.#running;
  }

  counts(): ExecutorCounts {
    return {
      unsettled: this.unsettled,
      bytes: this.#bytes,
      strands: this.#strands.size,
      running: this.#running,
      backoff: this.#backoff.size,
      halted: this.#halted,
      settled: this.#settled,
    };
  }

  /** The live strands, for status. */
  strands(): Iterable<Strand> {
    return this.#strands.values();
  }

  #endTurn(strand: Strand): void {
    invariant(
      strand.state === 'running',
      () => `the strand of key ${JSON.stringify(strand.key)} is not running`,
    );
    this.#running -= 1;
  }
}
