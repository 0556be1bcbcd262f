import type { DecoderSink } from '../decoder.js';
import type { PostgresEvent, TransactionContext } from '../event.js';
import type { Lsn } from '../lsn.js';
import type { PostgresPending } from '../pending.js';

/**
 * Leaves out what committed before a time. The first transaction at that time or later and everything behind it are
 * handed on: times of commits that were made at once may lie a little out of order.
 */
export class FromTime implements DecoderSink {
  /** Microseconds since 2000-01-01 UTC. */
  readonly time: bigint;
  /** The same, as it was given. */
  readonly text: string;
  readonly #pending: PostgresPending;
  /** Where the log ended when reading began: what commits behind it is later than now. */
  readonly #head: Lsn;
  #begun = false;
  #start: Lsn | null = null;
  #passed: Lsn;
  #sawEarlier = false;

  constructor(options: {
    readonly pending: PostgresPending;
    readonly time: bigint;
    readonly text: string;
    readonly head: Lsn;
    readonly begins: Lsn;
  }) {
    this.#pending = options.pending;
    this.time = options.time;
    this.text = options.text;
    this.#head = options.head;
    this.#passed = options.begins;
  }

  /** Everything that committed before this is left out; null until the log was read that far. */
  get start(): Lsn | null {
    return this.#start;
  }

  /** There was something before that time: nothing at that time or later is missing. */
  get sawEarlier(): boolean {
    return this.#sawEarlier;
  }

  event(event: PostgresEvent, context: TransactionContext): void {
    if (!this.#begun && this.#isEarlier(context)) return;
    this.#begun = true;
    this.#settle();
    this.#pending.event(event, context);
  }

  passed(lsn: Lsn, context: TransactionContext | null): void {
    if (!this.#begun && context !== null && !this.#isEarlier(context)) {
      this.#begun = true;
      this.#settle();
    }
    this.#passed = lsn;
    if (lsn >= this.#head) this.#settle();
    if (this.#start !== null) this.#pending.passed(lsn, context);
  }

  #isEarlier({ commitMicros }: TransactionContext): boolean {
    const earlier = commitMicros < this.time;
    this.#sawEarlier ||= earlier;
    return earlier;
  }

  #settle(): void {
    if (this.#start !== null) return;
    this.#start = this.#passed;
    this.#pending.wake();
  }
}
