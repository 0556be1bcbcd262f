import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackoffHeap } from '../src/backoff-heap.js';
import { Strand } from '../src/strand.js';

function due(at: number, key = String(at)): Strand {
  const strand = new Strand(key);
  strand.failed(null, at);
  strand.tryAgainAt(at);
  return strand;
}

describe('backoff heap', () => {
  it('is empty to begin with', () => {
    const heap = new BackoffHeap();
    expect(heap.size).toBe(0);
    expect(heap.nextDueAt).toBeNull();
    expect(heap.popDue(Infinity)).toBeNull();
  });

  it.each([
    { now: 99, popped: false },
    { now: 100, popped: true },
    { now: 101, popped: true },
  ])('hands out a strand that is due at 100 when it is $now: $popped', ({ now, popped }) => {
    const heap = new BackoffHeap();
    heap.push(due(100));
    expect(heap.popDue(now) !== null).toBe(popped);
    expect(heap.size).toBe(popped ? 0 : 1);
  });

  it('hands out every strand once, the one that is due first before the others', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { maxLength: 200, size: 'max' }), (times) => {
        const heap = new BackoffHeap();
        const strands = times.map((at, i) => due(at, `key ${String(i)}`));
        for (const strand of strands) heap.push(strand);
        const out: Strand[] = [];
        for (let top = heap.popDue(Infinity); top !== null; top = heap.popDue(Infinity)) out.push(top);
        expect(out.map(({ dueAt }) => dueAt)).toEqual([...times].sort((a, b) => a - b));
        expect(new Set(out)).toEqual(new Set(strands));
      }),
    );
  });

  it('gives up any strand before its time, and hands out the others as before', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 60 }), fc.nat(59), (times, nth) => {
        const heap = new BackoffHeap();
        const strands = times.map((at, i) => due(at, `key ${String(i)}`));
        for (const strand of strands) heap.push(strand);
        const [gone] = strands.splice(nth % strands.length, 1);
        if (gone === undefined) return;
        heap.remove(gone);
        heap.remove(gone);
        expect(heap.size).toBe(strands.length);
        const out: number[] = [];
        for (let top = heap.popDue(Infinity); top !== null; top = heap.popDue(Infinity)) out.push(top.dueAt);
        expect(out).toEqual(strands.map(({ dueAt }) => dueAt).sort((a, b) => a - b));
      }),
    );
  });

  it('says when the next one is due and never hands out one whose time has not come', () => {
    const step = fc.oneof(fc.record({ push: fc.nat(300) }), fc.record({ advance: fc.nat(60) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const heap = new BackoffHeap();
        let waiting: number[] = [];
        let now = 0;
        for (const step of steps) {
          if ('push' in step) {
            heap.push(due(now + step.push));
            waiting.push(now + step.push);
          } else {
            now += step.advance;
            const out: number[] = [];
            for (let top = heap.popDue(now); top !== null; top = heap.popDue(now)) out.push(top.dueAt);
            const time = now;
            expect(out).toEqual(waiting.filter((at) => at <= time).sort((a, b) => a - b));
            waiting = waiting.filter((at) => at > time);
          }
          expect(heap.size).toBe(waiting.length);
          expect(heap.nextDueAt).toBe(waiting.length === 0 ? null : Math.min(...waiting));
        }
      }),
    );
  });
});
