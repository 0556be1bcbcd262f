import type { OutboxEvent } from './event.js';

/** Why an event could not be handled. */
export interface Failure {
  readonly error: unknown;
  /** How many times the handler was called for it. */
  readonly attempts: number;
}

/**
 * Where parked keys keep their events, in order. The port that the `park` and `skip` policies need; a
 * pipeline without one halts the strand.
 */
export interface DeadLetters {
  /** Stores the failed head of a key, in one transaction. When it resolves the event counts as settled. */
  park(pipeline: string, event: OutboxEvent, failure: Failure): Promise<void>;
  /** Stores later events of a parked key behind it, in the given order, in one transaction. */
  append(pipeline: string, events: readonly OutboxEvent[]): Promise<void>;
  /** The keys that are parked now. */
  parkedKeys(pipeline: string): Promise<readonly string[]>;
  close(): Promise<void>;
}
