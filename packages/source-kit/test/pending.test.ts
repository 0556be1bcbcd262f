import type { OutboxEvent } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pending } from '../src/pending.js';

interface Transaction {
  readonly events: readonly string[];
  readonly visible: boolean;
}

const eventOf = (id: string): OutboxEvent => ({ id, bytes: 10 }) as OutboxEvent;

function create() {
  return new Pending<OutboxEvent, Transaction, string>({
    high: { events: 4, bytes: 1_000 },
    low: { events: 1, bytes: 1_000 },
    position: (place) => place,
  });
}

const isVisible = ({ visible }: Transaction): boolean => visible;

describe('what was decoded and not handed over', () => {
  const transactions = fc.array(
    fc.record({ rows: fc.integer({ min: 0, max: 4 }), visible: fc.boolean(), ends: fc.boolean() }),
    { maxLength: 12 },
  );

  it('is handed over in order, as far as it is visible, with the end of what was handed over', () => {
    fc.assert(
      fc.property(transactions, (given) => {
        const pending = create();
        const model: { id: string | null; visible: boolean; end: string | null }[] = [];
        given.forEach(({ rows, visible, ends }, n) => {
          const context: Transaction = { events: [], visible };
          for (let i = 0; i < rows; i += 1) {
            pending.event(eventOf(`${String(n)}.${String(i)}`), context);
            model.push({ id: `${String(n)}.${String(i)}`, visible, end: null });
          }
          if (!ends) return;
          pending.passed(`end ${String(n)}`, null);
          const last = model.at(-1);
          if (last === undefined) model.push({ id: null, visible: true, end: `end ${String(n)}` });
          else last.end = `end ${String(n)}`;
        });
        const blocked = model.findIndex(({ visible }) => !visible);
        const free = blocked < 0 ? model : model.slice(0, blocked);
        const batch = pending.take(isVisible);
        expect(batch?.events.map(({ id }) => id) ?? []).toEqual(
          free.flatMap(({ id }) => (id === null ? [] : [id])),
        );
        expect(batch?.passed ?? null).toBe(free.at(-1)?.end ?? null);
        const rest = pending.take(() => true);
        expect(rest?.events.map(({ id }) => id) ?? []).toEqual(
          model.slice(free.length).flatMap(({ id }) => (id === null ? [] : [id])),
        );
        expect(pending.empty).toBe(true);
        expect(pending.roomy).toBe(true);
      }),
    );
  });

  it('is full above the one limit, and has room again below the other', () => {
    const pending = create();
    const contexts = Array.from({ length: 5 }, (): Transaction => ({ events: [], visible: true }));
    contexts.forEach((context, n) => {
      expect(pending.full).toBe(false);
      pending.event(eventOf(String(n)), context);
    });
    expect(pending.full).toBe(true);
    expect(pending.take((context) => contexts.indexOf(context) < 2)?.events).toHaveLength(2);
    expect([pending.full, pending.roomy]).toEqual([false, false]);
    expect(pending.first).toBe(contexts[2]);
    pending.take(() => true);
    expect(pending.roomy).toBe(true);
  });

  it('counts the bytes of what waits, and nothing else', () => {
    const pending = new Pending<OutboxEvent, Transaction, string>({
      high: { events: 100, bytes: 25 },
      low: { events: 100, bytes: 5 },
      position: (place) => place,
    });
    const [first, second] = [
      { events: [], visible: true },
      { events: [], visible: false },
    ];
    pending.events([eventOf('x'), eventOf('x')], first);
    pending.event(eventOf('x'), second);
    expect(pending.full).toBe(true);
    pending.take(isVisible);
    expect([pending.full, pending.roomy]).toEqual([false, false]);
    pending.clear();
    expect(pending.roomy).toBe(true);
  });

  it('wakes who waits for it', async () => {
    const pending = create();
    const arrival = pending.arrival();
    pending.event(eventOf('1'), { events: [], visible: true });
    await arrival;
    pending.take(() => true);
    const news = pending.arrival();
    pending.wake();
    await news;
    expect(pending.take(() => true)).toBeNull();
  });
});
