import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../src/errors.js';
import { Mark, Watermark } from '../src/watermark.js';
import { position } from './fixtures.js';
import { naiveWatermark } from './naive-watermark.js';

/** One thing that can happen to a watermark. `settle` names the n-th unsettled mark, counted round. */
type Step =
  { readonly do: 'append' } | { readonly do: 'pass' } | { readonly do: 'settle'; readonly nth: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ do: 'append' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'pass' }) },
    { weight: 4, arbitrary: fc.nat(50).map((nth): Step => ({ do: 'settle', nth })) },
  ),
  { maxLength: 120, size: 'max' },
);

class MarkAt extends Mark {
  constructor(readonly position: string) {
    super();
  }
}

/** Plays steps on a watermark and on the array of flags that is its model; `check` runs after each of them. */
function play(
  steps: readonly Step[],
  check: (watermark: Watermark, settled: readonly boolean[], unsettled: readonly Mark[]) => void,
): void {
  const watermark = new Watermark('start');
  const settled: boolean[] = [];
  const unsettled: { readonly n: number; readonly mark: Mark }[] = [];
  for (const step of steps) {
    if (step.do === 'pass') {
      watermark.pass(position(settled.length));
      settled.push(true);
    } else if (step.do === 'append') {
      const mark = new MarkAt(position(settled.length));
      watermark.append(mark);
      unsettled.push({ n: settled.length, mark });
      settled.push(false);
    } else {
      const [chosen] = unsettled.splice(step.nth % Math.max(1, unsettled.length), 1);
      if (chosen === undefined) continue;
      watermark.settle(chosen.mark);
      settled[chosen.n] = true;
    }
    check(
      watermark,
      settled,
      unsettled.map(({ mark }) => mark),
    );
  }
}

/** Appends new marks at these positions. */
function append(watermark: Watermark, ...positions: string[]): Mark[] {
  const marks = positions.map((position) => new MarkAt(position));
  for (const mark of marks) watermark.append(mark);
  return marks;
}

function at(marks: readonly Mark[], nth: number): Mark {
  const mark = marks[nth];
  if (mark === undefined) throw new RangeError(`no mark ${String(nth)}`);
  return mark;
}

/** Appends marks 0 … n-1 and settles the given ones in the given order. */
function scenario(n: number, settled: readonly number[]): Watermark {
  const watermark = new Watermark('start');
  const marks = Array.from({ length: n }, (_, i) => new MarkAt(String(i)));
  for (const mark of marks) watermark.append(mark);
  for (const i of settled) watermark.settle(at(marks, i));
  return watermark;
}

function text(watermark: Watermark): string {
  const runs = watermark.completed().map(({ first, last }) => (first === last ? first : `${first}-${last}`));
  return [watermark.position, ...runs].join(' ');
}

describe('watermark', () => {
  it.each([
    { n: 0, settled: [], expected: 'start', what: 'nothing arrived' },
    { n: 3, settled: [], expected: 'start', what: 'nothing settled' },
    { n: 3, settled: [0], expected: '0', what: 'the oldest settled' },
    { n: 3, settled: [1], expected: 'start 1', what: 'a run between two unsettled' },
    { n: 3, settled: [2], expected: 'start 2', what: 'a run behind the newest' },
    { n: 3, settled: [2, 1], expected: 'start 1-2', what: 'a run that grows downwards' },
    { n: 3, settled: [1, 2], expected: 'start 1-2', what: 'a run that grows upwards' },
    { n: 5, settled: [1, 3, 2], expected: 'start 1-3', what: 'two runs that the mark between them joins' },
    { n: 5, settled: [1, 3], expected: 'start 1 3', what: 'two runs apart' },
    { n: 5, settled: [1, 3, 0], expected: '1 3', what: 'the oldest settled takes in the run behind it' },
    { n: 5, settled: [4, 3, 2, 1, 0], expected: '4', what: 'newest first' },
    { n: 5, settled: [0, 1, 2, 3, 4], expected: '4', what: 'oldest first' },
  ])('stands at "$expected" of $n marks after settling $settled: $what', ({ n, settled, expected }) => {
    expect(text(scenario(n, settled))).toBe(expected);
  });

  it('is the position up to which everything is settled, at any instant', () => {
    fc.assert(
      fc.property(steps, (steps) => {
        play(steps, (watermark, settled) => {
          expect(watermark.position).toBe(naiveWatermark(settled).watermark);
        });
      }),
    );
  });

  it('lists exactly the maximal settled runs above it, at most one behind each unsettled mark', () => {
    fc.assert(
      fc.property(steps, (steps) => {
        play(steps, (watermark, settled, unsettled) => {
          const completed = watermark.completed();
          expect(completed).toEqual(naiveWatermark(settled).completed);
          expect(completed.length).toBeLessThanOrEqual(watermark.unsettled);
          expect(watermark.unsettled).toBe(unsettled.length);
        });
      }),
    );
  });

  it('forgets a mark when it settles, so memory follows what is unsettled', () => {
    fc.assert(
      fc.property(steps, (steps) => {
        play(steps, (_, __, unsettled) => {
          // The only ways from one mark to another: walking them from the newest reaches the unsettled ones alone.
          const reached = new Set<Mark>();
          for (let mark = unsettled.at(-1) ?? null; mark !== null; mark = mark.older) reached.add(mark);
          expect(reached).toEqual(new Set(unsettled));
          for (let mark = unsettled[0] ?? null; mark !== null; mark = mark.newer) reached.delete(mark);
          expect(reached.size).toBe(0);
        });
      }),
      { numRuns: 50 },
    );
  });

  it('keeps one mark and one run when one slow event has a million settled above it', () => {
    const watermark = new Watermark('start');
    const slow = new MarkAt('slow');
    watermark.append(slow);
    let linked = 0;
    for (let i = 1; i <= 1_000_000; i += 1) {
      const mark = new MarkAt(String(i));
      watermark.append(mark);
      watermark.settle(mark);
      if (mark.older !== null || mark.newer !== null || mark.runBefore !== null) linked += 1;
    }
    expect(linked).toBe(0);
    expect(watermark.unsettled).toBe(1);
    expect([slow.older, slow.newer, slow.runBefore]).toEqual([null, null, null]);
    expect(watermark.position).toBe('start');
    expect(watermark.completed()).toEqual([{ first: '1', last: '1000000' }]);

    watermark.settle(slow);
    expect(watermark.position).toBe('1000000');
    expect(watermark.completed()).toEqual([]);
  }, 30_000);

  describe('pass', () => {
    it('moves the watermark at once when nothing is unsettled', () => {
      const watermark = new Watermark('start');
      watermark.pass('5');
      expect(text(watermark)).toBe('5');
    });

    it('opens a run behind an unsettled mark, extends it, and joins what settles around it', () => {
      const watermark = new Watermark('start');
      const [a, b] = [new MarkAt('1'), new MarkAt('4')];
      watermark.append(a);
      watermark.pass('2');
      watermark.pass('3');
      expect(text(watermark)).toBe('start 2-3');
      watermark.append(b);
      watermark.pass('5');
      expect(text(watermark)).toBe('start 2-3 5');
      watermark.settle(b);
      expect(text(watermark)).toBe('start 2-5');
      watermark.settle(a);
      expect(text(watermark)).toBe('5');
    });

    it('does not settle the newest event when a source says it has handed over up to just that event', () => {
      const watermark = new Watermark('start');
      const [a, b] = [new MarkAt('1'), new MarkAt('2')];
      watermark.append(a);
      watermark.append(b);
      watermark.pass('2');
      expect(text(watermark)).toBe('start');
      watermark.settle(a);
      expect(text(watermark)).toBe('1');
      watermark.settle(b);
      expect(text(watermark)).toBe('2');
    });
  });

  it('hands out copies: a saved offset does not change under the commit', () => {
    const watermark = new Watermark('start');
    const marks = append(watermark, '1', '2', '3', '4');
    watermark.settle(at(marks, 1));
    watermark.settle(at(marks, 3));
    const saved = watermark.completed();
    watermark.pass('5');
    watermark.settle(at(marks, 2));
    expect(saved).toEqual([
      { first: '2', last: '2' },
      { first: '4', last: '4' },
    ]);
  });

  describe('crashes on a broken invariant', () => {
    it('refuses to settle a mark twice', () => {
      const watermark = new Watermark('start');
      const [a, b] = [new MarkAt('1'), new MarkAt('2')];
      watermark.append(a);
      watermark.append(b);
      watermark.settle(b);
      expect(() => {
        watermark.settle(b);
      }).toThrow(InvariantError);
      watermark.settle(a);
      expect(() => {
        watermark.settle(a);
      }).toThrow(InvariantError);
      expect(text(watermark)).toBe('2');
    });

    it('refuses to settle a mark that was never appended, which would cut off all that are', () => {
      const watermark = scenario(3, []);
      expect(() => {
        watermark.settle(new MarkAt('9'));
      }).toThrow(InvariantError);
      expect(watermark.unsettled).toBe(3);
    });

    it.each([
      { what: 'the oldest', nth: 0 },
      { what: 'one in the middle', nth: 1 },
      { what: 'the newest', nth: 2 },
    ])('refuses to append $what again', ({ nth }) => {
      const watermark = new Watermark('start');
      const marks = append(watermark, '1', '2', '3');
      expect(() => {
        watermark.append(at(marks, nth));
      }).toThrow(InvariantError);
      expect(watermark.unsettled).toBe(3);
    });

    it('refuses to append a mark that is settled', () => {
      const watermark = new Watermark('start');
      const mark = new MarkAt('1');
      watermark.append(mark);
      watermark.settle(mark);
      expect(() => {
        watermark.append(mark);
      }).toThrow(InvariantError);
    });
  });

  it('asks an event that settles in its turn for no position: making it can be dear', () => {
    let asked = 0;
    class Dear extends Mark {
      constructor(readonly nth: number) {
        super();
      }
      get position(): string {
        asked += 1;
        return String(this.nth);
      }
    }
    const watermark = new Watermark('start');
    for (let nth = 1; nth <= 100; nth += 1) {
      const mark = new Dear(nth);
      watermark.append(mark);
      watermark.settle(mark);
    }
    expect(asked).toBe(0);
    expect(watermark.position).toBe('100');
  });
});
