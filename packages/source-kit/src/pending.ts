import type { OutboxEvent, Position, SourceBatch } from '@strandline/core';

/** Consecutive events that become visible together. */
interface Part<Context, Place> {
  readonly context: Context | null;
  count: number;
  bytes: number;
  passed: Place | null;
}

export interface PendingLimits {
  readonly events: number;
  readonly bytes: number;
}

export interface PendingOptions<Place> {
  /** Above this the socket is paused. */
  readonly high: PendingLimits;
  /** Below this it is read again. */
  readonly low: PendingLimits;
  /** Makes the position of a place that was passed. Only those that are handed over are made. */
  readonly position: (place: Place) => Position;
}

/**
 * What was decoded and not handed over yet: the events in stream order, and beside them one part per transaction. It
 * grows only by what one read of the socket holds once its owner has paused the socket.
 */
export class Pending<Event extends OutboxEvent, Context extends object, Place> {
  readonly #options: PendingOptions<Place>;
  #events: Event[] = [];
  #parts: Part<Context, Place>[] = [];
  #bytes = 0;
  #notify: (() => void) | null = null;

  constructor(options: PendingOptions<Place>) {
    this.#options = options;
  }

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** The socket should not be read for now. */
  get full(): boolean {
    const { high } = this.#options;
    return this.#events.length > high.events || this.#bytes > high.bytes;
  }

  /** There is room again. */
  get roomy(): boolean {
    const { low } = this.#options;
    return this.#events.length <= low.events && this.#bytes <= low.bytes;
  }

  /** Resolves once something is here, or `wake` was called. */
  arrival(): Promise<void> {
    if (!this.empty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  /** Adds the next event of a transaction. */
  event(event: Event, context: Context): void {
    this.#events.push(event);
    this.#count(1, event.bytes, context);
  }

  /** Adds the next events of one transaction, in their order. */
  events(events: readonly Event[], context: Context): void {
    let bytes = 0;
    for (const event of events) {
      this.#events.push(event);
      bytes += event.bytes;
    }
    this.#count(events.length, bytes, context);
  }

  /** Everything up to `place` has come. The context is that of the transaction which ends there, if one does. */
  passed(place: Place, context: Context | null): void {
    const last = this.#parts.at(-1);
    // The end of a transaction belongs to its rows; an idle stretch just moves on from there.
    if (last !== undefined && (last.context === context || context === null || last.count === 0)) {
      last.passed = place;
    } else {
      this.#parts.push({ context: null, count: 0, bytes: 0, passed: place });
    }
    this.wake();
  }

  /** The transaction that has to be visible before anything more can be handed over; null when nothing waits for one. */
  get first(): Context | null {
    return this.#parts[0]?.context ?? null;
  }

  /** Takes the longest run from the front whose transactions are all `visible`; null when that is nothing. */
  take(visible: (context: Context) => boolean): SourceBatch | null {
    let last: Part<Context, Place> | null = null;
    let parts = 0;
    let count = 0;
    for (const part of this.#parts) {
      if (part.context !== null && !visible(part.context)) break;
      last = part;
      parts += 1;
      count += part.count;
      this.#bytes -= part.bytes;
    }
    if (last === null) return null;
    let events = this.#events;
    if (parts === this.#parts.length) {
      this.#events = [];
      this.#parts = [];
    } else {
      events = events.splice(0, count);
      this.#parts.splice(0, parts);
    }
    // How far this brings the stream: to the end of the last part, unless that lies inside a transaction.
    return { events, passed: last.passed === null ? null : this.#options.position(last.passed) };
  }

  /** Forgets what was not handed over: it will be read again. */
  clear(): void {
    this.#events = [];
    this.#parts = [];
    this.#bytes = 0;
  }

  #count(events: number, bytes: number, context: Context): void {
    this.#bytes += bytes;
    const last = this.#parts.at(-1);
    if (last?.context === context && last.passed === null) {
      last.count += events;
      last.bytes += bytes;
    } else {
      this.#parts.push({ context, count: events, bytes, passed: null });
    }
    this.wake();
  }

  /** Makes `arrival` resolve though nothing has come: there is news of another kind. */
  wake(): void {
    const notify = this.#notify;
    if (notify === null) return;
    this.#notify = null;
    notify();
  }
}
