import type { OutboxEvent } from '@strandline/core';

/**
 * What calls the handler: the log (`live`), a letter of a released key (`letter`), or a replay (`replay`).
 */
export type TurnKind = 'live' | 'letter' | 'replay';

/**
 * How a turn ended:
 *
 * - `settled`: the handler succeeded.
 * - `retry`: it failed, and is called again with the same events.
 * - `narrowed`: a batch failed for good; its events are tried one by one.
 * - `exhausted`: it failed for good; the failure policy says what becomes of the event.
 * - `put-back`: the handler was not called after all, since the log may be another owner's.
 */
export type TurnOutcome = 'settled' | 'retry' | 'narrowed' | 'exhausted' | 'put-back';

/** Runs a call inside something, and returns or throws what the call does. */
export type Around = (call: () => unknown) => unknown;

/** One call of a handler. Both messages of a turn are the same object. */
export class Turn {
  /** Null while it goes on. */
  outcome: TurnOutcome | null = null;
  /** What the handler threw; null unless it failed. */
  error: unknown = null;
  #around: Around | null = null;
  #ended: ((turn: Turn) => void) | null = null;

  constructor(
    readonly pipeline: string,
    readonly replay: string | null,
    readonly kind: TurnKind,
    /** The event, or the first one of a batch. */
    readonly event: OutboxEvent,
    readonly attempt: number,
    /** All events of a batch handler's call; null for a handler of single events. */
    readonly batch: readonly OutboxEvent[] | null,
  ) {}

  /**
   * Has the handler called inside a context of the listener's, such as `AsyncLocalStorage.run` or OpenTelemetry's
   * `context.with`: to be said while `strandline:turn:start` is published. A turn for which nobody says so pays for
   * nothing; a store that is bound to a channel would be entered at every turn.
   */
  within(around: Around): void {
    const inner = this.#around;
    this.#around = inner === null ? around : (call) => around(() => inner(call));
  }

  /**
   * Has a listener told of the end of this turn and no other: to be said while `strandline:turn:start` is published.
   * Whoever is interested in few turns need not hear of the end of all of them.
   */
  whenEnded(listener: (turn: Turn) => void): void {
    const before = this.#ended;
    this.#ended =
      before === null
        ? listener
        : (turn) => {
            before(turn);
            listener(turn);
          };
  }

  /** Some listener has asked for more than the message. */
  get isFollowed(): boolean {
    return this.#around !== null || this.#ended !== null;
  }

  end(outcome: TurnOutcome, error: unknown): void {
    this.outcome = outcome;
    this.error = error;
    this.#ended?.(this);
  }

  /** Calls the handler as the listeners want it called. */
  run(call: () => unknown): unknown {
    return this.#around === null ? call() : this.#around(call);
  }
}

/** How long one turn has taken. */
export interface Timing {
  readonly pipeline: string;
  readonly replay: string | null;
  readonly kind: TurnKind;
  /** Seconds from the handler's call to its end, however it ended. */
  readonly duration: number;
  /**
   * Seconds from the commit of the event, or of the first one of its batch, to the handler's call, by the clocks of the
   * outbox's server and of this machine; null unless it is the first attempt at a live event.
   */
  readonly sinceCommit: number | null;
}
