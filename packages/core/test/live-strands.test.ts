import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveStrands } from '../src/live-strands.js';
import { Strand } from '../src/strand.js';

describe('the live strands', () => {
  it('are those that were added and not deleted, in the order of adding, however many come and go', () => {
    // So many that the map is made anew several times, in whatever state it is by then.
    const steps = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 400 })), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (steps) => {
        const live = new LiveStrands();
        const expected = new Map<string, Strand>();
        let n = 0;
        for (const [keep, churn] of steps) {
          for (let i = 0; i < churn; i += 1) {
            const strand = new Strand(`k${String(n)}`);
            n += 1;
            live.add(strand);
            expected.set(strand.key, strand);
            const [oldest] = expected.values();
            if (expected.size <= keep || oldest === undefined) continue;
            live.delete(oldest);
            expected.delete(oldest.key);
          }
          expect([...live.values()]).toEqual([...expected.values()]);
          expect(live.size).toBe(expected.size);
        }
        for (const [key, strand] of expected) expect(live.get(key)).toBe(strand);
        expect([live.has('another'), live.get('another')]).toEqual([false, undefined]);
      }),
    );
  });
});
