import { BackoffHeap } from './backoff-heap.js';
import { invariant } from './errors.js';
import type { OutboxEvent } from './event.js';
import { LiveStrands } from './live-strands.js';
import { ParkedStrands, type ParkedStrand } from './parked-strands.js';
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
  /** No more retries: the strand holds still until `halt`, `skip` or `park` says what becomes of its head. */
  | { readonly outcome: 'exhausted' };

/** Counts for status and metrics. */
export interface ExecutorCounts {
  /** Events admitted and not settled. */
  readonly unsettled: number;
  /** Their size in bytes. */
  readonly bytes: number;
  /** Keys that have events here. */
  readonly strands: number;
  readonly running: number;
  /** Turns that take too long: they go on, and take no place of another key. */
  readonly stuck: number;
  readonly backoff: number;
  /** Failed for good, and what becomes of the head is not done yet. */
  readonly exhausted: number;
  readonly halted: number;
  /** Keys whose events are stored instead of handled. */
  readonly parked: number;
  /** Events settled since the start. */
  readonly settled: number;
}

/**
 * Decides what runs when: a state machine without clock, promise or I/O. The shell around it feeds in what
 * happened (`admit`, `pass`, `succeed`, `fail`, `wake`) and runs what `take` hands out.
 *
 * Invariants:
 * - a strand is in exactly one of: the ready queue, running, the backoff heap, exhausted, halted;
 * - an event is on exactly one strand, live or parked, until it is settled, and is settled once;
 * - of one key, only the events of one turn are in flight, and they are the oldest ones;
 * - what is admitted of a parked key comes after all that its live strand has, and is stored in its order.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #strands = new LiveStrands();
  readonly #ready = new ReadyQueue();
  readonly #backoff = new BackoffHeap();
  readonly #watermark: Watermark;
  readonly #parked = new ParkedStrands();
  #concurrency: number;
  #batch: number;
  #running = 0;
  /** Strands in the ready queue whose head has failed before. */
  #tryAgain = 0;
  #stuck = 0;
  #exhausted = 0;
  #halted = 0;
  #bytes = 0;
  #settled = 0;

  constructor(options: ExecutorOptions) {
    invariant(options.concurrency >= 1, 'an executor without concurrency would never run anything');
    invariant(options.batch >= 1, 'a turn without events would never settle its head');
    this.#options = options;
    this.#concurrency = options.concurrency;
    this.#batch = options.batch;
    this.#watermark = new Watermark(options.start);
  }

  /** Puts the next event, in the source's order, on its strand. */
  admit(event: OutboxEvent): void {
    const entry = new Entry(event);
    this.#watermark.append(entry);
    this.#bytes += event.bytes;
    if (this.#parked.size > 0) {
      const parked = this.#parked.get(event.key);
      if (parked !== undefined) {
        this.#parked.push(parked, entry);
        return;
      }
    }
    let strand = this.#strands.get(event.key);
    if (strand === undefined) {
      strand = new Strand(event.key);
      this.#strands.add(strand);
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
    if (this.#running >= this.#concurrency) return null;
    const strand = this.#ready.shift();
    if (strand === null) return null;
    strand.become('running');
    if (strand.attempt > 0) this.#tryAgain -= 1;
    // A failed turn is tried again with the same events, whatever has queued up behind them since.
    else strand.inFlight = strand.alone ? 1 : Math.min(this.#batch, strand.length);
    strand.attempt += 1;
    this.#running += 1;
    return strand;
  }

  /** The turn of a running strand succeeded: its events are settled. */
  succeed(strand: Strand): void {
    this.#endTurn(strand);
    this.#settleTurn(strand);
  }

  /**
   * The turn of a running strand takes too long. It goes on, and its key with it, but its place is another key's.
   * False, and nothing is changed, when as many turns are stuck already as may run: the places are kept then.
   */
  tooLong(strand: Strand): boolean {
    if (strand.state !== 'running' || this.#stuck >= this.#concurrency) return false;
    strand.become('stuck');
    this.#running -= 1;
    this.#stuck += 1;
    return true;
  }

  /** The handler of a running strand was not called after all: its events wait for their turn as before. */
  putBack(strand: Strand): void {
    this.#endTurn(strand);
    strand.attempt -= 1;
    if (strand.attempt > 0) this.#tryAgain += 1;
    strand.become('ready');
    this.#ready.push(strand);
  }

  /**
   * The turn of a running strand failed: its head stays the head, now or for good.
   *
   * @param notBefore milliseconds from now that the next attempt waits at least
   */
  fail(strand: Strand, error: unknown, now: number, notBefore = 0): FailureDecision {
    this.#endTurn(strand);
    strand.failed(error, now);
    const { retry, random } = this.#options;
    const delay = nextDelay(retry, strand.attempt, now - strand.firstFailedAt, error, random());
    if (delay === null) {
      strand.become('exhausted');
      this.#exhausted += 1;
      return { outcome: 'exhausted' };
    }
    strand.become('backoff');
    strand.tryAgainAt(now + Math.max(delay, notBefore));
    this.#backoff.push(strand);
    return { outcome: 'retry', dueAt: strand.dueAt };
  }

  /**
   * A batch has failed for good: its events are tried one by one, which tells the one that can't be handled from the
   * others. False for one event.
   */
  narrow(strand: Strand): boolean {
    if (strand.state !== 'exhausted' || strand.inFlight <= 1) return false;
    this.#exhausted -= 1;
    strand.narrow();
    strand.become('ready');
    this.#ready.push(strand);
    return true;
  }

  /** How many strands may run at once from now on, and how many events one turn takes. */
  limit(concurrency: number, batch: number): void {
    this.#concurrency = concurrency;
    this.#batch = batch;
  }

  /** Events of a key that are admitted, live and not settled. */
  queued(key: string): number {
    return this.#strands.get(key)?.length ?? 0;
  }

  /** An exhausted strand stops for good: it holds its events, and the watermark with them. */
  halt(strand: Strand): void {
    strand.become('halted');
    this.#exhausted -= 1;
    this.#halted += 1;
  }

  /** What an exhausted strand had in flight is stored elsewhere, and settled. What follows goes on. */
  skip(strand: Strand): void {
    invariant(
      strand.state === 'exhausted',
      () => `the strand of key ${JSON.stringify(strand.key)} has not failed for good`,
    );
    this.#exhausted -= 1;
    this.#settleTurn(strand);
  }

  /** From now on what is admitted of a key is stored instead of handled. What is live of it stays live, and comes before. */
  divert(key: string): void {
    this.#parked.add(key);
  }

  /**
   * The head of an exhausted strand is going to be stored. Unless its key is diverted already, it is from now on: what
   * waits behind the head is stored after it, and nothing of that before `skip` or `halt` has said what became of it.
   */
  holdHead(strand: Strand): void {
    const { key } = strand;
    invariant(
      strand.state === 'exhausted' && !this.#parked.has(key),
      () => `the strand of key ${JSON.stringify(key)} can't be parked`,
    );
    const parked = this.#parked.add(key);
    this.#parked.hold(parked);
    for (const entry of strand.cut(strand.inFlight)) this.#parked.push(parked, entry);
  }

  /** All that is live of an exhausted strand, whose key was diverted before, is stored in front of what follows. */
  skipAll(strand: Strand): void {
    strand.inFlight = strand.length;
    this.skip(strand);
  }

  /** Whether something of a parked key is being stored right now. */
  isStoring(key: string): boolean {
    return (this.#parked.get(key)?.storing ?? 0) > 0;
  }

  /** Keeps what waits of a parked key from being stored, or lets it be stored again. */
  holdParked(key: string, hold: boolean): void {
    const parked = this.#parked.get(key);
    if (parked === undefined) return;
    if (hold) {
      this.#parked.hold(parked);
    } else {
      parked.held = false;
      this.#parked.queue(parked);
    }
  }

  isParked(key: string): boolean {
    return this.#parked.has(key);
  }

  /** The oldest event of a parked key that is not stored. */
  oldestParked(key: string): OutboxEvent | null {
    return this.#parked.get(key)?.oldest ?? null;
  }

  /** Whether events of the key are live: on its strand, be they in flight or not. */
  isLive(key: string): boolean {
    return this.#strands.has(key);
  }

  /** The next parked key with events to store, with at most so many of them; null when there is none. */
  takeParked(max: number): ParkedStrand | null {
    return this.#parked.take(max);
  }

  /** What was being stored of a parked key is stored: it is settled. */
  stored(parked: ParkedStrand): void {
    const { storing } = parked;
    for (let i = 0; i < storing; i += 1) this.#settle(parked.shift());
    this.#settled += storing;
    parked.most = Infinity;
    this.notStored(parked);
  }

  /** It is not: it waits for the next time. */
  notStored(parked: ParkedStrand): void {
    parked.storing = 0;
    parked.queued = false;
    this.#parked.queue(parked);
  }

  /**
   * There is no room for as many: fewer are tried, down to one; then nothing of the key is stored before `holdParked`
   * lets it. False in that case.
   */
  notStoredForWantOfRoom(parked: ParkedStrand): boolean {
    const { storing } = parked;
    if (storing === 1) this.#parked.hold(parked);
    parked.most = Math.max(1, Math.floor(storing / 2));
    this.notStored(parked);
    return storing > 1;
  }

  /** A parked key is live again: what was not stored of it is handled. Nothing of it may be being stored. */
  unpark(key: string): void {
    const parked = this.#parked.remove(key);
    if (parked === null || parked.length === 0) return;
    invariant(
      !this.#strands.has(key),
      () => `the key ${JSON.stringify(key)} has events before its parked ones`,
    );
    const strand = new Strand(key);
    while (parked.length > 0) strand.push(parked.shift());
    this.#strands.add(strand);
    this.#ready.push(strand);
  }

  /** Makes ready every strand whose backoff is over. Returns when the next one is due, or null. */
  wake(now: number): number | null {
    for (let strand = this.#backoff.popDue(now); strand !== null; strand = this.#backoff.popDue(now)) {
      strand.become('ready');
      strand.tryAgainAt(NaN);
      this.#tryAgain += 1;
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

  /** The oldest event that is not settled. */
  get oldest(): OutboxEvent | null {
    const { oldest } = this.#watermark;
    return oldest instanceof Entry ? oldest.event : null;
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

  /**
   * Keys that wait for the first turn of their head, and could have it now. Those whose head is tried again don't count:
   * when many fail, they may fall due faster than they are handled, and whoever waits for them to be gone waits for ever.
   */
  get ready(): number {
    return this.#ready.size - this.#tryAgain;
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
      stuck: this.#stuck,
      backoff: this.#backoff.size,
      exhausted: this.#exhausted,
      halted: this.#halted,
      parked: this.#parked.size,
      settled: this.#settled,
    };
  }

  /** The live strands, for status: in the order in which they came to live, so what is slow, hot or failing is in front. */
  strands(): Iterable<Strand> {
    return this.#strands.values();
  }

  /** Keys whose events are stored instead of handled, for status. */
  parkedKeys(): Iterable<string> {
    return this.#parked.keys();
  }

  /** What was in flight is settled; what follows is ready, or the strand is gone. */
  #settleTurn(strand: Strand): void {
    const count = strand.inFlight;
    for (let i = 0; i < count; i += 1) this.#settle(strand.shift());
    this.#settled += count;
    strand.inFlight = 0;
    strand.become('ready');
    if (strand.length > 0) this.#ready.push(strand);
    else this.#strands.delete(strand);
  }

  #settle(entry: Entry): void {
    this.#bytes -= entry.event.bytes;
    this.#watermark.settle(entry);
  }

  #endTurn(strand: Strand): void {
    invariant(
      strand.state === 'running' || strand.state === 'stuck',
      () => `the strand of key ${JSON.stringify(strand.key)} is not running`,
    );
    if (strand.state === 'stuck') this.#stuck -= 1;
    else this.#running -= 1;
  }
}
