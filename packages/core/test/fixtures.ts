import type { ExecutorOptions } from '../src/executor.js';
import type { OutboxEvent } from '../src/event.js';
import type { Position } from '../src/position.js';
import type { RetryPolicy } from '../src/retry-policy.js';

/** The n-th position of a made-up log, in a form that sorts neither as text nor as a number. */
export function position(n: number): Position {
  return `${String(((n + 1) * 7919) % 100_003)}~${String(n)}`;
}

export function event(key: string, n: number, bytes = 1): OutboxEvent {
  return {
    id: String(n),
    key,
    type: null,
    payload: null,
    payloadText: null,
    payloadFormat: 'json',
    headers: {},
    headersText: null,
    columns: {},
    position: position(n),
    table: 'public.outbox',
    transaction: { id: String(n), ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes,
  };
}

/** Doubles from 100 ms, never gives up, draws no lots: times in a test are exact. */
export const STEADY: RetryPolicy = {
  attempts: Infinity,
  maxElapsed: Infinity,
  initialDelay: 100,
  maxDelay: 1_000,
  factor: 2,
  jitter: 'none',
};

export function executorOptions(overrides: Partial<ExecutorOptions> = {}): ExecutorOptions {
  return { start: 'start', concurrency: 10, batch: 1, retry: STEADY, random: () => 0.5, ...overrides };
}
