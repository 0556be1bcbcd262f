import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PostgresEvent, type TransactionContext } from '../src/event.js';
import { createPending, type PostgresPending } from '../src/pending.js';
import { logPosition } from '../src/position.js';

const always = (): boolean => true;

function transaction(xid: number): TransactionContext {
  return { xid, commitMicros: 0n };
}

function event(lsn: bigint, ordinal: number, bytes = 1): PostgresEvent {
  const position = logPosition(lsn, ordinal);
  const fields = {
    id: position,
    type: null,
    payloadText: null,
    headersText: null,
    columns: {},
    bytes,
  };
  return new PostgresEvent(fields, 'k', position, 'public.outbox', 'text', transaction(0), ordinal);
}

function positions(
  pending: PostgresPending,
  visible: (context: TransactionContext) => boolean = always,
): unknown {
  const batch = pending.take(visible);
  return batch && { events: batch.events.map(({ position }) => position), passed: batch.passed };
}

/** Whether a promise has resolved once everything that is due now has run. */
async function hasResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => {
    resolved = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return resolved;
}

describe('what is taken', () => {
  it('is nothing where nothing is', () => {
    const pending = createPending();
    expect(pending.empty).toBe(true);
    expect(pending.take(always)).toBeNull();
  });

  it('is everything, in order, when all of it is visible', () => {
    const pending = createPending();
    const [a, b] = [transaction(1), transaction(2)];
    pending.event(event(0xa0n, 1), a);
    pending.event(event(0xa0n, 2), a);
    pending.passed(0xd0n, a);
    pending.event(event(0xd0n, 1), b);
    pending.passed(0x100n, b);
    expect(positions(pending)).toEqual({ events: ['0/A0:1', '0/A0:2', '0/D0:1'], passed: '0/100:0' });
    expect(pending.empty).toBe(true);
  });

  it('passes nothing in the middle of a transaction', () => {
    const pending = createPending();
    const [a, b] = [transaction(1), transaction(2)];
    pending.event(event(0xa0n, 1), a);
    pending.passed(0xd0n, a);
    pending.event(event(0xd0n, 1), b);
    expect(positions(pending)).toEqual({ events: ['0/A0:1', '0/D0:1'], passed: null });
    pending.event(event(0xd0n, 2), b);
    pending.passed(0x100n, b);
    expect(positions(pending)).toEqual({ events: ['0/D0:2'], passed: '0/100:0' });
  });

  it('is the end of a transaction alone, when its rows were taken before', () => {
    const pending = createPending();
    const a = transaction(1);
    pending.event(event(0xa0n, 1), a);
    positions(pending);
    pending.passed(0xd0n, a);
    expect(positions(pending)).toEqual({ events: [], passed: '0/D0:0' });
  });

  it('is the last of many idle stretches', () => {
    const pending = createPending();
    for (const lsn of [0x10n, 0x20n, 0x30n]) pending.passed(lsn, null);
    expect(positions(pending)).toEqual({ events: [], passed: '0/30:0' });
  });

  it('an idle stretch after a transaction moves its end on', () => {
    const pending = createPending();
    const a = transaction(1);
    pending.event(event(0xa0n, 1), a);
    pending.passed(0xd0n, a);
    pending.passed(0x500n, null);
    expect(positions(pending)).toEqual({ events: ['0/A0:1'], passed: '0/500:0' });
  });
});

describe('what is not visible yet', () => {
  const [a, b, c] = [transaction(1), transaction(2), transaction(3)];
  const filled = (): PostgresPending => {
    const pending = createPending();
    for (const [context, lsn] of [
      [a, 0xa0n],
      [b, 0xb0n],
      [c, 0xc0n],
    ] as const) {
      pending.event(event(lsn, 1), context);
      pending.passed(lsn + 8n, context);
    }
    return pending;
  };

  it('waits, and with it what comes after it, visible or not', () => {
    const pending = filled();
    expect(positions(pending, (context) => context !== b)).toEqual({ events: ['0/A0:1'], passed: '0/A8:0' });
    expect(pending.first).toBe(b);
    expect(positions(pending, (context) => context !== b)).toBeNull();
    expect(positions(pending)).toEqual({ events: ['0/B0:1', '0/C0:1'], passed: '0/C8:0' });
    expect(pending.first).toBeNull();
  });

  it('does not hold up idle stretches before it', () => {
    const pending = createPending();
    pending.passed(0x10n, null);
    pending.event(event(0xa0n, 1), a);
    expect(pending.first).toBeNull();
    expect(positions(pending, () => false)).toEqual({ events: [], passed: '0/10:0' });
    expect(pending.first).toBe(a);
  });

  it('an idle stretch after it does not get before it', () => {
    const pending = createPending();
    pending.event(event(0xa0n, 1), a);
    pending.passed(0xa8n, a);
    pending.passed(0x500n, null);
    expect(positions(pending, () => false)).toBeNull();
  });
});

describe('any stream', () => {
  it('comes out whole and in order, however it is taken', () => {
    const transactions = fc.array(
      fc.record({ rows: fc.nat(4), takeAfter: fc.boolean(), visible: fc.nat(3) }),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(transactions, (script) => {
        const pending = createPending();
        const expected: string[] = [];
        const taken: string[] = [];
        let behind: string | null = null;
        const take = (visible: (context: TransactionContext) => boolean): void => {
          const batch = pending.take(visible);
          if (batch === null) return;
          taken.push(...batch.events.map(({ position }) => position));
          behind = batch.passed ?? behind;
          // Nothing is said to be passed that was not handed over with it or before.
          if (batch.passed !== null) expect(taken).toEqual(expected.slice(0, taken.length));
        };
        script.forEach(({ rows, takeAfter, visible }, index) => {
          const context = transaction(index);
          const lsn = BigInt(index + 1) * 0x100n;
          for (let ordinal = 1; ordinal <= rows; ordinal += 1) {
            pending.event(event(lsn, ordinal), context);
            expected.push(logPosition(lsn, ordinal));
          }
          pending.passed(lsn + 0x80n, rows === 0 ? null : context);
          if (takeAfter) take(({ xid }) => xid <= index - visible);
        });
        take(always);
        expect(taken).toEqual(expected);
        expect(behind).toBe(
          script.length === 0 ? null : logPosition(BigInt(script.length) * 0x100n + 0x80n, 0),
        );
        expect(pending.empty).toBe(true);
      }),
    );
  });
});

describe('waiting', () => {
  it('ends at once when something is here', async () => {
    const pending = createPending();
    pending.passed(1n, null);
    expect(await hasResolved(pending.arrival())).toBe(true);
  });

  it.each<[string, (pending: PostgresPending) => void]>([
    [
      'an event',
      (pending) => {
        pending.event(event(1n, 1), transaction(1));
      },
    ],
    [
      'an idle stretch',
      (pending) => {
        pending.passed(1n, null);
      },
    ],
    [
      'a wake-up',
      (pending) => {
        pending.wake();
      },
    ],
  ])('ends with %s, and not before', async (_, happens) => {
    const pending = createPending();
    const arrival = pending.arrival();
    expect(await hasResolved(arrival)).toBe(false);
    happens(pending);
    expect(await hasResolved(arrival)).toBe(true);
  });

  it('a wake-up that nobody waited for is not kept', async () => {
    const pending = createPending();
    pending.wake();
    const arrival = pending.arrival();
    expect(await hasResolved(arrival)).toBe(false);
    pending.wake();
    expect(await hasResolved(arrival)).toBe(true);
  });
});

describe('its limits', () => {
  it('many small events fill it, and it has room again when most are taken', () => {
    const pending = createPending();
    const contexts: TransactionContext[] = [];
    for (let n = 1; n <= 1_025; n += 1) {
      expect(pending.full).toBe(false);
      const context = transaction(n);
      contexts.push(context);
      pending.event(event(BigInt(n), 1), context);
    }
    expect(pending.full).toBe(true);
    pending.take(({ xid }) => xid <= 700);
    expect([pending.full, pending.roomy]).toEqual([false, false]);
    pending.take(({ xid }) => xid <= 769);
    expect(pending.roomy).toBe(true);
  });

  it('few large events fill it', () => {
    const pending = createPending();
    pending.event(event(1n, 1, 17 * 1024 * 1024), transaction(1));
    expect([pending.full, pending.roomy]).toEqual([true, false]);
    pending.take(always);
    expect([pending.full, pending.roomy]).toEqual([false, true]);
  });
});
