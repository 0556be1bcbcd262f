import type { PositionRange, Strand } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AlreadySettled } from '../src/already-settled.js';
import { compare, event, executorFor, offsetAt, pipelineConfig, position } from './fixtures.js';

/** Neighbouring numbers, cut into ranges: `[first, last]`, both included. */
type Ranges = readonly (readonly [first: number, last: number])[];

function known(watermark: number, ranges: Ranges, comparisons = { count: 0 }): AlreadySettled {
  const completed: PositionRange[] = ranges.map(([first, last]) => ({
    first: position(first),
    last: position(last),
  }));
  return new AlreadySettled(offsetAt(watermark, { completed }), (a, b) => {
    comparisons.count += 1;
    return compare(a, b);
  });
}

function verdict(watermark: number, ranges: Ranges, n: number): 'behind' | 'settled' | 'new' {
  if (n <= watermark) return 'behind';
  return ranges.some(([first, last]) => first <= n && n <= last) ? 'settled' : 'new';
}

describe('what an earlier owner had settled', () => {
  it('is what lies behind the watermark, and the ranges with both their ends', () => {
    const settled = known(9, [
      [11, 11],
      [13, 15],
    ]);
    const verdicts = [8, 9, 10, 11, 12, 13, 14, 15, 16].map((n) => settled.lookUp(position(n)));
    expect(verdicts.join(' ')).toBe('behind behind new settled new settled settled settled new');
  });

  it('is nothing above the watermark of an offset without ranges', () => {
    const settled = known(9, []);
    expect([9, 10, 100].map((n) => settled.lookUp(position(n)))).toEqual(['behind', 'new', 'new']);
    expect(settled.remaining).toEqual([]);
  });

  it('is told by the source’s order: as text p10 comes before p9', () => {
    const settled = known(9, [[99, 101]]);
    expect([10, 98, 99, 100, 101, 102].map((n) => settled.lookUp(position(n)))).toEqual([
      'new',
      'new',
      'settled',
      'settled',
      'settled',
      'new',
    ]);
  });

  it('still counts while the stream has not passed it', () => {
    const settled = known(0, [
      [2, 4],
      [6, 7],
    ]);
    const left = (): string => settled.remaining.map(({ first, last }) => `${first}-${last}`).join(' ');
    expect(left()).toBe('p2-p4 p6-p7');
    settled.lookUp(position(3));
    expect(left()).toBe('p2-p4 p6-p7');
    settled.lookUp(position(4));
    expect(left()).toBe('p6-p7');
    settled.lookUp(position(5));
    expect(left()).toBe('p6-p7');
    settled.lookUp(position(8));
    expect(left()).toBe('');
  });
});

const offset = fc
  .record({ watermark: fc.nat(20), cuts: fc.uniqueArray(fc.integer({ min: 1, max: 80 }), { maxLength: 40 }) })
  .map(({ watermark, cuts }) => {
    const sorted = cuts.map((cut) => watermark + cut).sort((a, b) => a - b);
    const ranges: [number, number][] = [];
    for (let i = 0; i + 1 < sorted.length; i += 2) ranges.push([sorted[i] ?? 0, sorted[i + 1] ?? 0]);
    return { watermark, ranges };
  });

/** A stream in the source's order, which starts before the watermark or after it and leaves out places. */
const stream = fc.uniqueArray(fc.nat(110), { maxLength: 110 }).map((places) => places.sort((a, b) => a - b));

describe('against a model', () => {
  it('says the same of every position of every stream, and keeps the ranges that are not passed', () => {
    fc.assert(
      fc.property(offset, stream, ({ watermark, ranges }, places) => {
        const settled = known(watermark, ranges);
        for (const n of places) {
          expect(settled.lookUp(position(n))).toBe(verdict(watermark, ranges, n));
          if (n <= watermark) continue;
          const left = ranges.filter(([, last]) => last > n).map(([first]) => position(first));
          expect(settled.remaining.map(({ first }) => first)).toEqual(left);
        }
      }),
    );
  });

  it('also of an offset that was saved in the middle of a range: what was passed of it, and then all of it', () => {
    fc.assert(
      fc.property(offset, stream, fc.nat(100), ({ watermark, ranges }, places, cut) => {
        const reached = watermark + cut;
        const passed = ranges
          .filter(([first]) => first <= reached)
          .map(([first, last]) => [first, Math.min(last, reached)] as const);
        const remaining = ranges.filter(([, last]) => last >= reached);
        const settled = known(watermark, [...passed, ...remaining]);
        for (const n of places) expect(settled.lookUp(position(n))).toBe(verdict(watermark, ranges, n));
      }),
    );
  });

  it('looks at each range and each position a few times, however many there are', () => {
    const comparisons = { count: 0 };
    const ranges = Array.from({ length: 5_000 }, (_, i) => [2 * i + 2, 2 * i + 2] as const);
    const settled = known(0, ranges, comparisons);
    for (let n = 1; n <= 10_001; n += 1) settled.lookUp(position(n));
    expect(settled.remaining).toEqual([]);
    expect(comparisons.count).toBeLessThan(4 * 10_001);
  });
});

/**
 * An order like that of a start snapshot's rows: a row has a rank from when it is read until the next `batch` of
 * them is, and the ends of ranges keep theirs. What has none is taken for later than everything that has.
 */
class ForgetfulOrder {
  readonly #bounds = new Map<string, number>();
  readonly #unread: ReadonlySet<string>;
  #batch = new Map<string, number>();

  constructor(watermark: number, ranges: Ranges) {
    this.#bounds.set(position(watermark), watermark);
    this.#unread = new Set(ranges.flat().map(position));
  }

  startBatch(): void {
    this.#batch = new Map();
  }

  read(n: number): void {
    this.#batch.set(position(n), n);
    if (this.#unread.has(position(n))) this.#bounds.set(position(n), n);
  }

  readonly compare = (a: string, b: string): number => {
    const [rankA, rankB] = [a, b].map((at) => this.#batch.get(at) ?? this.#bounds.get(at) ?? Infinity);
    if (rankA === undefined || rankB === undefined || rankA === rankB) return 0;
    return rankA < rankB ? -1 : 1;
  };
}

type Step = { readonly do: 'read' } | { readonly do: 'settle'; readonly nth: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'read' }) },
    { weight: 2, arbitrary: fc.nat(20).map((nth): Step => ({ do: 'settle', nth })) },
  ),
  { maxLength: 120, size: 'max' },
);

describe('the completed set to save', () => {
  it('is exactly what has settled, now or before, whatever the stream has passed and the order remembers', () => {
    fc.assert(
      fc.property(offset, steps, fc.integer({ min: 1, max: 5 }), ({ watermark, ranges }, script, batch) => {
        const order = new ForgetfulOrder(watermark, ranges);
        const completed = ranges.map(([first, last]) => ({ first: position(first), last: position(last) }));
        const settled = new AlreadySettled(offsetAt(watermark, { completed }), order.compare);
        const executor = executorFor(pipelineConfig({ concurrency: 1_000 }), watermark);
        const done = new Set<number>();
        const running: Strand[] = [];
        let next = watermark;
        for (const step of script) {
          if (step.do === 'read') {
            next += 1;
            if ((next - watermark) % batch === 0) order.startBatch();
            order.read(next);
            if (settled.lookUp(position(next)) === 'settled') executor.pass(position(next));
            else executor.admit(event(`k${String(next)}`, next));
            const strand = executor.take();
            if (strand !== null) running.push(strand);
          } else {
            const [strand] = running.splice(step.nth % Math.max(1, running.length), 1);
            if (strand === undefined) continue;
            done.add(Number(strand.head.event.id));
            executor.succeed(strand);
          }
          const saved = settled.joinedTo(executor.completed());
          const cuts = saved.flatMap(({ first, last }) => [first, last]).map((at) => Number(at.slice(1)));
          expect(cuts, 'sorted, and without overlap').toEqual(cuts.toSorted((a, b) => a - b));
          const reached = Number(executor.watermark.slice(1));
          const places = Array.from({ length: watermark + 80 }, (_, i) => i + 1);
          const covered = places.filter(
            (n) =>
              n <= reached || cuts.some((first, i) => i % 2 === 0 && first <= n && n <= (cuts[i + 1] ?? 0)),
          );
          expect(covered).toEqual(
            places.filter((n) => done.has(n) || verdict(watermark, ranges, n) !== 'new'),
          );
        }
      }),
    );
  });
});
