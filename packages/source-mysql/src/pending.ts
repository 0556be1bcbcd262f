import type { SourceBatch } from '@strandline/core';
import type { AssemblerSink } from './assembler.js';
import type { MysqlEvent, TransactionContext } from './event.js';

/** Put together and not handed over: above the first the socket is paused, below the second it is read again. */
const HIGH = { events: 8_192, bytes: 16 * 1024 * 1024 };
const LOW = { events: 1_024, bytes: 4 * 1024 * 1024 };

/** Consecutive output of the assembler that becomes visible together. */
interface Part {
  readonly context: TransactionContext | null;
  readonly events: MysqlEvent[];
  passed: (() => string) | null;
}

/** What was put together and not handed over yet, in stream order, one part per transaction. */
export class Pending implements Omit<AssemblerSink, 'readAgain'> {
  #parts: Part[] = [];
  #events = 0;
  #bytes = 0;
  #notify: (() => void) | null = null;

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  get full(): boolean {
    return this.#events > HIGH.events || this.#bytes > HIGH.bytes;
  }

  get roomy(): boolean {
    return this.#events <= LOW.events && this.#bytes <= LOW.bytes;
  }

  /** Forgets what was not handed over: it will be read again. */
  clear(): void {
    this.#parts = [];
    this.#events = 0;
    this.#bytes = 0;
  }

  /** Resolves once something is here, or `wake` was called. */
  arrival(): Promise<void> {
    if (!this.empty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  event(event: MysqlEvent, context: TransactionContext): void {
    const last = this.#parts.at(-1);
    if (last?.context === context && last.passed === null) last.events.push(event);
    else this.#parts.push({ context, events: [event], passed: null });
    this.#events += 1;
    this.#bytes += event.bytes;
    this.wake();
  }

  passed(position: () => string, context: TransactionContext | null): void {
    const last = this.#parts.at(-1);
    if (last === undefined || (last.passed === null && last.context?.id !== context?.id)) {
      this.#parts.push({ context: null, events: [], passed: position });
    } else {
      last.passed = position;
    }
    this.wake();
  }

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
    const taken = this.#parts.slice(0, count);
    this.#parts = this.#parts.slice(count);
    const events = taken.flatMap((part) => part.events);
    this.#events -= events.length;
    for (const event of events) this.#bytes -= event.bytes;
    return { events, passed: taken.at(-1)?.passed?.() ?? null };
  }

  wake(): void {
    const notify = this.#notify;
    if (notify === null) return;
    this.#notify = null;
    notify();
  }
}
