import type { OutboxEvent, Position, SourceBatch } from '@strandline/core';

/** Consecutive events that become visible together. */
interface Part<Event, Context, Place> {
  readonly context: Context | null;
  readonly events: Event[];
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
 * What was decoded and not handed over yet, in stream order, one part per transaction. It grows only by what
 * one read of the socket holds once its owner has paused the socket.
 */
export class Pending<Event extends OutboxEvent, Context extends object, Place> {
  readonly #options: PendingOptions<Place>;
  #parts: Part<Event, Context, Place>[] = [];
  #events = 0;
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
    return this.#events > high.events || this.#bytes > high.bytes;
  }

  /** There is room again. */
  get roomy(): boolean {
    const { low } = this.#options;
    return this.#events <= low.events && this.#bytes <= low.bytes;
  }

  /** Resolves once something is here, or `wake` was called. */
  arrival(): Promise<void> {
    if (!this.empty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  event(event: Event, context: Context): void {
    const last = this.#parts.at(-1);
    if (last?.context === context && last.passed === null) last.events.push(event);
    else this.#parts.push({ context, events: [event], passed: null });
    this.#events += 1;
    this.#bytes += event.bytes;
    this.wake();
  }

  /** Everything up to `place` has come. The context is that of the transaction which ends there, if one does. */
  passed(place: Place, context: Context | null): void {
    const last = this.#parts.at(-1);
    // The end of a transaction belongs to its rows; an idle stretch just moves on from there.
    if (last !== undefined && (last.context === context || context === null || last.events.length === 0)) {
      last.passed = place;
    } else {
      this.#parts.push({ context: null, events: [], passed: place });
    }
    this.wake();
  }

  /** The transaction that has to be visible before anything more can be handed over; null when nothing waits for one. */
  get first(): Context | null {
    return this.#parts[0]?.context ?? null;
  }

  /** Takes the longest run from the front whose transactions are all `visible`; null when that is nothing. */
  take(visible: (context: Context) => boolean): SourceBatch | null {
    let count = 0;
    for (const part of this.#parts) {
      if (part.context !== null && !visible(part.context)) break;
      count += 1;
    }
    if (count === 0) return null;
    const taken = count === this.#parts.length ? this.#parts : this.#parts.slice(0, count);
    this.#parts = count === this.#parts.length ? [] : this.#parts.slice(count);
    const [first] = taken;
    const events =
      taken.length === 1 && first !== undefined ? first.events : taken.flatMap((part) => part.events);
    this.#events -= events.length;
    for (const event of events) this.#bytes -= event.bytes;
    return { events, passed: this.#lastPassed(taken) };
  }

  /** Forgets what was not handed over: it will be read again. */
  clear(): void {
    this.#parts = [];
    this.#events = 0;
    this.#bytes = 0;
  }

  /** Makes `arrival` resolve though nothing has come: there is news of another kind. */
  wake(): void {
    const notify = this.#notify;
    if (notify === null) return;
    this.#notify = null;
    notify();
  }

  /** How far a run of parts brings the stream: to the last part's end, unless that lies inside a transaction. */
  #lastPassed(parts: readonly Part<Event, Context, Place>[]): Position | null {
    const place = parts.at(-1)?.passed ?? null;
    return place === null ? null : this.#options.position(place);
  }
}
