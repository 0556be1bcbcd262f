import {
  restoreEvent,
  type DeadLetter,
  type DeadLetterDesk,
  type DeadLetterStore,
  type EventRecord,
  type FailedAttempts,
  type Failure,
  type LetterFence,
  type LetterLimits,
  type LetterReason,
  type NewLetter,
  type OutboxEvent,
} from '@strandline/core';
import { expect, it } from 'vitest';

/** One kind of dead-letter table with what it stands on, for one test. */
export interface DeadLetterBackend extends AsyncDisposable {
  /** A store over the same table, as another process would open it. */
  open(): DeadLetterStore;
  desk(): DeadLetterDesk;
}

export type SetUp = () => Promise<DeadLetterBackend>;

/** A table that a pipeline has claimed. */
export interface Claimed {
  readonly backend: DeadLetterBackend;
  readonly store: DeadLetterStore;
  readonly desk: DeadLetterDesk;
  readonly fence: LetterFence;
}

/** Declares a test with a backend, a store and a desk of its own. */
export type Each = (name: string, test: (claimed: Claimed) => Promise<void>) => void;

export const PIPELINE = 'shop';
export const ROOMY: LetterLimits = { perKey: 1_000_000, inAll: 1_000_000 };

export function eachOf(setUp: SetUp): Each {
  return (name, test) => {
    it(name, async () => {
      await using backend = await setUp();
      await using store = closing(backend.open());
      await using desk = closing(backend.desk());
      const fence = { pipeline: PIPELINE, epoch: 1 };
      expect(await store.claim(fence, 'w0')).not.toBe('fenced');
      await test({ backend, store, desk, fence });
    });
  };
}

export function closing<T extends { close(): Promise<void> }>(store: T): T & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** The n-th event of a log. */
export function event(key: string, n: number, more: Partial<EventRecord> = {}): OutboxEvent {
  return restoreEvent({
    id: String(n),
    key,
    type: 'paid',
    payloadText: `{"n": ${String(n)}}`,
    payloadFormat: 'json',
    headersText: null,
    columns: {},
    position: `p${String(n)}`,
    table: 'public.outbox',
    transaction: { id: `t${String(n)}`, ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes: 400,
    ...more,
  });
}

export function failure(message: string, attempts = 3): Failure {
  return {
    error: { name: 'Error', message, code: null, stack: `Error: ${message}\n    at handle` },
    attempts,
    firstFailedAt: '2026-01-01T00:00:00.000Z',
    lastFailedAt: '2026-01-01T00:00:01.000Z',
    history: [failedAttempts('timed out', 1, attempts - 1), failedAttempts(message, attempts, attempts)],
  };
}

export function failedAttempts(message: string, first: number, last: number): FailedAttempts {
  return {
    ...{ first, last, firstFailedAt: '2026-01-01T00:00:00.000Z', lastFailedAt: '2026-01-01T00:00:01.000Z' },
    error: { name: 'Error', code: null, message },
  };
}

export function letter(of: OutboxEvent, reason: LetterReason = 'behind'): NewLetter {
  const isFailure = reason === 'failed' || reason === 'crash';
  return { event: of, reason, failure: isFailure ? failure('no stock') : null };
}

/** Letters of a key: events `from` to `to`, the first of which has failed. */
export function lettersOf(key: string, from: number, to: number): NewLetter[] {
  return Array.from({ length: to - from + 1 }, (_, i) =>
    letter(event(key, from + i), i === 0 ? 'failed' : 'behind'),
  );
}

/** Parks a key with its events `from` to `to`. */
export async function parked(
  { store, fence }: Claimed,
  key: string,
  from: number,
  to: number,
): Promise<void> {
  expect(await store.park(fence, key, lettersOf(key, from, to), 'behind', ROOMY)).toBe('stored');
}

export function ids(letters: readonly DeadLetter[]): string[] {
  return letters.map(({ event }) => event.id);
}

/** Ids of the events of a key that wait, in their order. */
export async function waiting({ store, fence }: Claimed, key: string): Promise<string[]> {
  return ids(await store.read(fence, key, 1_000));
}

/** The first letter of a key that waits. */
export async function headOf({ store, fence }: Claimed, key: string): Promise<DeadLetter> {
  const [head] = await store.read(fence, key, 1);
  return head ?? expect.fail(`no letter of ${key} waits`);
}
