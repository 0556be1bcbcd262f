import type { OutboxEvent } from '@strandline/core';
import type { Term } from '../term.js';
import { CHANNELS } from './channels.js';
import { Turn, type TurnKind, type TurnOutcome } from './turn.js';

const START = CHANNELS['strandline:turn:start'];
const END = CHANNELS['strandline:turn:end'];
const TIMED = CHANNELS['strandline:turn:timed'];

/**
 * Turns that are timed in one millisecond: to time one takes a microsecond, all told, and at full speed an event takes
 * four. Beyond that a share says as much. Which turns are timed is known before they start, so slow ones have the same
 * chance.
 */
const TIMED_A_MILLISECOND = 2;

/** One turn that somebody listens to. */
export class WatchedTurn {
  readonly #turn: Turn | null;
  readonly #timed: TimedTurn | null;

  constructor(turn: Turn | null, timed: TimedTurn | null) {
    this.#turn = turn;
    this.#timed = timed;
  }

  /** Calls the handler as the listeners want it called. */
  run(call: () => unknown): unknown {
    return this.#turn === null ? call() : this.#turn.run(call);
  }

  /** Tells how it ended. */
  end(outcome: TurnOutcome, error: unknown): void {
    if (outcome !== 'put-back') this.#timed?.end();
    const turn = this.#turn;
    if (turn?.outcome !== null) return;
    turn.end(outcome, error);
    if (END.hasSubscribers) END.publish(turn);
  }
}

/** What turns there are for one kind of caller, watched while somebody listens. */
export class TurnWatch {
  readonly #term: Term;
  readonly #kind: TurnKind;
  #millisecond = 0;
  #left = 0;

  constructor(term: Term, kind: TurnKind) {
    this.#term = term;
    this.#kind = kind;
  }

  /**
   * Called before every turn: null, and nothing done, where nobody listens to this one.
   *
   * @param wall what `Date.now()` says
   */
  begin(
    event: OutboxEvent,
    attempt: number,
    batch: readonly OutboxEvent[] | null,
    wall: number,
  ): WatchedTurn | null {
    const isHeard = START.hasSubscribers || END.hasSubscribers;
    const isTimed = TIMED.hasSubscribers && this.#hasRoom(wall);
    if (!isHeard && !isTimed) return null;
    const turn = isHeard ? this.#start(event, attempt, batch) : null;
    const timed = isTimed ? new TimedTurn(this.#term, this.#kind, this.#since(event, attempt, wall)) : null;
    return turn === null && timed === null ? null : new WatchedTurn(turn, timed);
  }

  #hasRoom(wall: number): boolean {
    if (wall !== this.#millisecond) {
      this.#millisecond = wall;
      this.#left = TIMED_A_MILLISECOND;
    }
    this.#left -= 1;
    return this.#left >= 0;
  }

  /** Null where nobody wants to know more of this turn. */
  #start(event: OutboxEvent, attempt: number, batch: readonly OutboxEvent[] | null): Turn | null {
    const { eventsOf, replay } = this.#term;
    const turn = new Turn(eventsOf, replay, this.#kind, event, attempt, batch);
    if (START.hasSubscribers) START.publish(turn);
    return END.hasSubscribers || turn.isFollowed ? turn : null;
  }

  /** Seconds since the event was committed. The clocks are two: a negative one is none. */
  #since({ transaction }: OutboxEvent, attempt: number, wall: number): number | null {
    if (this.#kind !== 'live' || attempt > 1) return null;
    return Math.max(0, wall - Date.parse(transaction.commitTime)) / 1_000;
  }
}

class TimedTurn {
  readonly #startedAt = performance.now();

  constructor(
    readonly term: Term,
    readonly kind: TurnKind,
    readonly sinceCommit: number | null,
  ) {}

  end(): void {
    if (!TIMED.hasSubscribers) return;
    const { kind, sinceCommit } = this;
    const { eventsOf: pipeline, replay } = this.term;
    const duration = (performance.now() - this.#startedAt) / 1_000;
    TIMED.publish({ pipeline, replay, kind, duration, sinceCommit });
  }
}
