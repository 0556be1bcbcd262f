import { invariant } from './errors.js';
import type { OutboxEvent } from './event.js';
import type { FailureHistory } from './failure-history.js';
import { HeadFailures } from './head-failures.js';
import type { Position } from './position.js';
import { Mark, type Positioned } from './watermark.js';

/** A settled event of up to so many bytes is kept itself, for its position is made only when it is told. */
const SMALL = 1_024;

/** An admitted event: its place on its strand, and (as a mark) its place in the watermark. */
export class Entry extends Mark {
  next: Entry | null = null;

  constructor(readonly event: OutboxEvent) {
    super();
  }

  get position(): Position {
    return this.event.position;
  }

  override get kept(): Positioned {
    return this.event.bytes <= SMALL ? this.event : { position: this.event.position };
  }
}

/**
 * What a strand is doing:
 *
 *     ready ──take──► running ──succeed──► ready, or gone when empty
 *       ▲                │  └─tooLong─► stuck ──succeed, fail──► as if it were running
 *       │               fail
 *       │                ├──► backoff ──its time comes, tryNow──► ready
 *       │                └──► exhausted ──skip, narrow──► ready, or gone when empty
 *       │                         └─────halt──► halted ──tryAfresh──► ready
 *       └── admit (a new strand starts ready)
 *
 * While an operator holds its key a strand is `held` wherever it would be ready or in backoff, and ready again when the
 * key is released. `giveUp` makes what is ready, held, in backoff or halted exhausted.
 */
export type StrandState = 'ready' | 'running' | 'stuck' | 'backoff' | 'exhausted' | 'halted' | 'held';

/** Which states may follow which. */
const SUCCESSORS: Readonly<Record<StrandState, readonly StrandState[]>> = {
  ready: ['running', 'held', 'exhausted'],
  running: ['ready', 'stuck', 'backoff', 'exhausted', 'held'],
  stuck: ['ready', 'backoff', 'exhausted', 'held'],
  backoff: ['ready', 'held', 'exhausted'],
  exhausted: ['ready', 'halted', 'held'],
  halted: ['ready', 'held', 'exhausted'],
  held: ['ready', 'exhausted'],
};

/**
 * The FIFO of one live key. Its head is the oldest event of the key that is not settled; the head and the
 * events that went out in the same batch are in flight while the strand is `running`, and nothing else of the
 * key can be. It is deleted when empty, so there are as many strands as keys with work.
 */
export class Strand {
  #state: StrandState = 'ready';
  #head: Entry | null = null;
  #tail: Entry | null = null;
  #length = 0;
  /** The next strand in the ready queue. */
  nextReady: Strand | null = null;
  /** How many events from the head on are in flight. */
  inFlight = 0;
  /** Handler calls for the present head so far. */
  attempt = 0;
  /** How many of its oldest events are handled one by one: those of a batch that failed. */
  #alone = 0;
  /** What is known of the present head's failures. Few heads fail: the others carry no room for it. */
  #failures: HeadFailures | null = null;

  constructor(readonly key: string) {}

  get state(): StrandState {
    return this.#state;
  }

  /** The one setter of the state. */
  become(next: StrandState): void {
    invariant(
      SUCCESSORS[this.#state].includes(next),
      () => `the strand of key ${JSON.stringify(this.key)} can't go from ${this.#state} to ${next}`,
    );
    this.#state = next;
  }

  get length(): number {
    return this.#length;
  }

  /** When the present head first failed; NaN before that. */
  get firstFailedAt(): number {
    return this.#failures?.firstAt ?? NaN;
  }

  /** When the present head last failed; NaN before that. */
  get lastFailedAt(): number {
    return this.#failures?.lastAt ?? NaN;
  }

  /** When the present head is tried again, while in backoff; NaN otherwise. */
  get dueAt(): number {
    return this.#failures?.dueAt ?? NaN;
  }

  /** What the present head last failed with. */
  get lastError(): unknown {
    return this.#failures?.lastError;
  }

  /** What the present head's attempts failed with: nothing before the first failure. */
  get failureHistory(): FailureHistory<number> {
    return this.#failures?.history ?? [];
  }

  /** The present head has failed. */
  failed(error: unknown, now: number): void {
    if (this.#failures === null) this.#failures = new HeadFailures(error, now);
    else this.#failures.add(error, now);
  }

  /** The present head, which has failed, is tried again then, or (NaN) waits for no moment any more. */
  tryAgainAt(dueAt: number): void {
    if (this.#failures !== null) this.#failures.dueAt = dueAt;
  }

  /** The head is handled by itself. */
  get alone(): boolean {
    return this.#alone > 0;
  }

  /** What is in flight is handled one by one, from the head on, as if nothing of it had been tried. */
  narrow(): void {
    this.#alone = this.inFlight;
    this.inFlight = 0;
    this.#startAfresh();
  }

  /** The oldest unsettled event. A strand in the executor's map always has one. */
  get head(): Entry {
    invariant(this.#head !== null, () => `the strand of key ${JSON.stringify(this.key)} is empty`);
    return this.#head;
  }

  push(entry: Entry): void {
    if (this.#tail === null) this.#head = entry;
    else this.#tail.next = entry;
    this.#tail = entry;
    this.#length += 1;
  }

  /** Takes the head off, for good. The next event starts afresh: no attempts, no failures. */
  shift(): Entry {
    const entry = this.head;
    this.#head = entry.next;
    if (this.#head === null) this.#tail = null;
    entry.next = null;
    this.#length -= 1;
    if (this.#alone > 0) this.#alone -= 1;
    this.#startAfresh();
    return entry;
  }

  /** The head counts as one that was never tried. */
  forgetFailures(): void {
    this.#startAfresh();
  }

  #startAfresh(): void {
    this.attempt = 0;
    this.#failures = null;
  }

  /** Takes off what comes after the first `keep` events, oldest first. */
  cut(keep: number): Entry[] {
    const rest: Entry[] = [];
    let last: Entry | null = null;
    let entry = this.#head;
    for (let i = 0; i < keep && entry !== null; i += 1) {
      last = entry;
      entry = entry.next;
    }
    while (entry !== null) {
      const { next } = entry;
      entry.next = null;
      rest.push(entry);
      entry = next;
    }
    if (last === null) this.#head = null;
    else last.next = null;
    this.#tail = last;
    this.#length -= rest.length;
    return rest;
  }

  /** The event at a position, as long as it waits here. */
  eventAt(position: Position): OutboxEvent | null {
    for (let entry = this.#head; entry !== null; entry = entry.next)
      if (entry.event.position === position) return entry.event;
    return null;
  }

  /** The events that are in flight, oldest first. */
  inFlightEvents(): OutboxEvent[] {
    return this.events(this.inFlight);
  }

  /** The oldest so many events, or all. */
  events(count = this.#length): OutboxEvent[] {
    const events: OutboxEvent[] = [];
    let entry = this.#head;
    for (let i = 0; i < count; i += 1) {
      invariant(entry !== null, 'more events in flight than the strand has');
      events.push(entry.event);
      entry = entry.next;
    }
    return events;
  }
}
