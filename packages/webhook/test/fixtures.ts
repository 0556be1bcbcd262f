import type { HandlerContext, Logger, OutboxEvent } from '@strandline/core';

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

export const log = silent;

/** 32 bytes. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export function event(overrides: Partial<OutboxEvent> = {}): OutboxEvent {
  const payloadText = overrides.payloadText === undefined ? '{"cents":1}' : overrides.payloadText;
  return {
    id: '42',
    key: 'order-1',
    type: 'order.placed',
    payload: null,
    payloadFormat: 'json',
    headers: {},
    headersText: null,
    columns: {},
    position: '16/B374D848:3',
    table: 'public.outbox',
    transaction: { id: '7', ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes: 100,
    ...overrides,
    payloadText,
  };
}

export interface TestContext extends HandlerContext {
  /** What `retryAfter` was called with. */
  readonly waits: number[];
}

export function context(overrides: Partial<HandlerContext> = {}): TestContext {
  const waits: number[] = [];
  return {
    pipeline: 'shop',
    replay: false,
    signal: new AbortController().signal,
    attempt: 1,
    log,
    get idempotencyKey(): string {
      throw new Error('A batch has none.');
    },
    idempotencyKeyOf: ({ table, id }) => `shop/${table}/${id}`,
    settledBefore: null,
    retryAfter: (milliseconds) => waits.push(milliseconds),
    waits,
    ...overrides,
  };
}

/** What a promise that is expected to fail fails with. */
export function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => {
      throw new Error('It was expected to fail.');
    },
    (error: unknown) => error as Error,
  );
}
