import type { Position, SourceBatch } from '@strandline/core';
import type { PostgresEvent, TransactionContext } from './event.js';
import { logPosition } from './position.js';
import type { DecoderSink } from './decoder.js';
import type { Lsn } from './lsn.js';

/**
 * Decoded and not handed over: above the first the socket is paused, below the second it is read again. A read of
 * the socket brings some hundred small events, and what waits in the kernel's buffers costs no collection.
 */
const HIGH = { events: 1_024, bytes: 16 * 1024 * 1024 };
const LOW = { events: 256, bytes: 4 * 1024 * 1024 };

/** Consecutive output of the decoder that becomes visible together. */
interface Part {
  readonly context: TransactionContext | null;
  readonly events: PostgresEvent[];
  passed: Lsn | null;
}

/**
 * What was decoded and not handed over yet, in stream order, one part per transaction. It grows only by what
 * one read of the socket holds once its owner has paused the socket.
 */
export class Pending implements DecoderSink {
  #parts: Part[] = [];
  #events = 0;
  #bytes = 0;
  #notify: (() => void) | null = null;

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** The socket should not be read for now. */
  get full(): boolean {
    return this.#events > HIGH.events || this.#bytes > HIGH.bytes;
  }

  /** There is room again. */
  get roomy(): boolean {
    return this.#events <= LOW.events && this.#bytes <= LOW.bytes;
  }

  /** Resolves once something is here, or `wake` was called. */
  arrival(): Promise<void> {
    if (!this.empty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  event(event: PostgresEvent, context: TransactionContext): void {
    const last = this.#parts.at(-1);
    if (last?.context === context && last.passed === null) last.events.push(event);
    else this.#parts.push({ context, events: [event], passed: null });
    this.#events += 1;
    this.#bytes += event.bytes;
    this.wake();
  }

  passed(lsn: Lsn, context: TransactionContext | null): void {
    const last = this.#parts.at(-1);
    if (last === undefined) this.#parts.push({ context: null, events: [], passed: lsn });
    // The end of a transaction belongs to its rows; a later keepalive just moves on from there.
    else if (last.context === context || context === null || last.events.length === 0) last.passed = lsn;
    else this.#parts.push({ context: null, events: [], passed: lsn });
    this.wake();
  }

  /** The transaction that has to be visible before anything more can be handed over; null when nothing waits for one. */
  get first(): TransactionContext | null {
    return this.#parts[0]?.context ?? null;
  }

  /** Takes the longest run from the front whose transactions are all `visible`; null when that is nothing. */
  take(visible: (context: TransactionContext) => boolean): SourceBatch | null {
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
    return { events, passed: lastPassed(taken) };
  }

  /** Makes `arrival` resolve though nothing has come: there is news of another kind. */
  wake(): void {
    const notify = this.#notify;
    if (notify === null) return;
    this.#notify = null;
    notify();
  }
}

/** How far a run of parts brings the stream: to the last part's end, unless that lies inside a transaction. */
function lastPassed(parts: readonly Part[]): Position | null {
  const passed = parts.at(-1)?.passed ?? null;
  return passed === null ? null : logPosition(passed, 0);
}
