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
  /** The key is held: the next try comes when it is released. */
  | { readonly outcome: 'held' }
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
  /** Keys that an operator holds and that have events here. */
  readonly held: number;
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
 * - a strand is in exactly one of: the ready queue, running, the backoff heap, exhausted, halted, held;
 * - a key that is held takes no turn: its strand is neither in the ready queue nor in the backoff heap;
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
  /** Keys that an operator holds, be they live or not. Mostly empty, and looked into only when it is not. */
  readonly #holds = new Set<string>();
  #concurrency: number;
  /** How many may run at once: `#concurrency`, or none while the pipeline is paused. */
  #places: number;
  #batch: number;
  #running = 0;
  /** Strands in the ready queue whose head has failed before. */
  #tryAgain = 0;
  #stuck = 0;
  #exhausted = 0;
  #halted = 0;
  #held = 0;
  #bytes = 0;
  #settled = 0;

  constructor(options: ExecutorOptions) {
    invariant(options.concurrency >= 1, 'an executor without concurrency would never run anything');
    invariant(options.batch >= 1, 'a turn without events would never settle its head');
    this.#options = options;
    this.#concurrency = options.concurrency;
    this.#places = options.concurrency;
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
      this.#begin(strand);
    }
    strand.push(entry);
  }

  /** Records that the source has passed a position that needs no work (any more). */
  pass(position: Position): void {
    this.#watermark.pass(position);
  }

  /** The strand whose turn it is, now running, with its events in flight; null when none may run. */
  take(): Strand | null {
    if (this.#running >= this.#places) return null;
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
    this.#makeReady(strand);
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
    if (this.#holds.size > 0 && this.#holds.has(strand.key)) {
      this.#stand(strand);
      return { outcome: 'held' };
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
    this.#makeReady(strand);
    return true;
  }

  /** How many strands may run at once from now on, and how many events one turn takes. */
  limit(concurrency: number, batch: number): void {
    if (this.#places > 0) this.#places = concurrency;
    this.#concurrency = concurrency;
    this.#batch = batch;
  }

  /** No turn starts while it is paused; what runs goes on, and what is admitted waits. */
  pause(isPaused: boolean): void {
    this.#places = isPaused ? 0 : this.#concurrency;
  }

  get isPaused(): boolean {
    return this.#places === 0;
  }

  /**
   * Keys take no turn from now on, whether they have events here or not: what is admitted of them waits in order. A turn
   * that runs goes on, and its key stands when it has ended.
   */
  hold(keys: Iterable<string>): void {
    let isQueued = false;
    for (const key of keys) {
      this.#holds.add(key);
      const strand = this.#strands.get(key);
      if (strand?.state === 'ready') isQueued = true;
      if (strand?.state !== 'backoff') continue;
      this.#backoff.remove(strand);
      this.#stand(strand);
    }
    if (isQueued) for (const strand of this.#withdraw(({ key }) => this.#holds.has(key))) this.#stand(strand);
  }

  /** Keys that were held go on where they stand. A head that had failed is tried at once, as its next attempt. */
  release(keys: Iterable<string>): void {
    for (const key of keys) {
      if (!this.#holds.delete(key)) continue;
      const strand = this.#strands.get(key);
      if (strand?.state !== 'held') continue;
      this.#held -= 1;
      this.#makeReady(strand);
    }
  }

  isHeld(key: string): boolean {
    return this.#holds.has(key);
  }

  /** Whether a handler of the key may be called now, as far as operators have a say. */
  mayRun(key: string): boolean {
    return !this.isPaused && !this.isHeld(key);
  }

  /** Keys that are held, be they live or not. */
  get holds(): number {
    return this.#holds.size;
  }

  /** A head in backoff need not wait any longer: its next attempt is due. False for any other. */
  tryNow(strand: Strand): boolean {
    if (strand.state !== 'backoff') return false;
    this.#backoff.remove(strand);
    strand.tryAgainAt(NaN);
    this.#makeReady(strand);
    return true;
  }

  /** The head of a halted strand is tried again, as if it never had been. False for any other. */
  tryAfresh(strand: Strand): boolean {
    if (strand.state !== 'halted') return false;
    this.#halted -= 1;
    strand.forgetFailures();
    this.#makeReady(strand);
    return true;
  }

  /**
   * An operator gives up the head of a strand that does not run: it alone is in flight then, as if it had failed for
   * good. False, and nothing is changed, while a turn runs or something is being stored.
   */
  giveUp(strand: Strand): boolean {
    if (strand.state === 'running' || strand.state === 'stuck' || strand.state === 'exhausted') return false;
    if (strand.state === 'ready') this.#withdraw((other) => other === strand);
    else if (strand.state === 'backoff') this.#backoff.remove(strand);
    else if (strand.state === 'held') this.#held -= 1;
    else this.#halted -= 1;
    strand.become('exhausted');
    strand.tryAgainAt(NaN);
    strand.inFlight = 1;
    this.#exhausted += 1;
    return true;
  }

  /** What `giveUp` said does not hold: nothing of the head was stored, and it waits for its next attempt. */
  takeBack(strand: Strand): void {
    this.#exhausted -= 1;
    this.#makeReady(strand);
  }

  /**
   * Nothing is stored of a head for which `holdHead` was called: what follows is live again, behind it, and its key is
   * not parked.
   */
  unholdHead(strand: Strand): void {
    const parked = this.#parked.remove(strand.key);
    if (parked !== null) while (parked.length > 0) strand.push(parked.shift());
  }

  /** The live strand of a key; undefined when it has no live events. */
  strandOf(key: string): Strand | undefined {
    return this.#strands.get(key);
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

  /** What is admitted of a parked key and not stored; undefined when it is not parked. */
  parkedStrandOf(key: string): ParkedStrand | undefined {
    return this.#parked.get(key);
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
    this.#begin(strand);
  }

  /** Makes ready every strand whose backoff is over. Returns when the next one is due, or null. */
  wake(now: number): number | null {
    for (let strand = this.#backoff.popDue(now); strand !== null; strand = this.#backoff.popDue(now)) {
      strand.tryAgainAt(NaN);
      this.#makeReady(strand);
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
      held: this.#held,
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
    if (strand.length > 0) this.#makeReady(strand);
    else this.#strands.delete(strand);
  }

  /** A key that has no strand gets this one. */
  #begin(strand: Strand): void {
    this.#strands.add(strand);
    if (this.#holds.size > 0 && this.#holds.has(strand.key)) this.#stand(strand);
    else this.#ready.push(strand);
  }

  /** It waits for its turn, or stands if its key is held. */
  #makeReady(strand: Strand): void {
    if (this.#holds.size > 0 && this.#holds.has(strand.key)) {
      this.#stand(strand);
      return;
    }
    strand.become('ready');
    if (strand.attempt > 0) this.#tryAgain += 1;
    this.#ready.push(strand);
  }

  #stand(strand: Strand): void {
    strand.become('held');
    this.#held += 1;
    strand.tryAgainAt(NaN);
  }

  /** Takes strands out of the ready queue. */
  #withdraw(fits: (strand: Strand) => boolean): Strand[] {
    const withdrawn = this.#ready.withdraw(fits);
    for (const { attempt } of withdrawn) if (attempt > 0) this.#tryAgain -= 1;
    return withdrawn;
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
