import { describe, expect } from 'vitest';
import type { EachBeside } from './log-reader-beside.js';

export function describeReach(each: EachBeside): void {
  describe('knows how far the log reaches', () => {
    each('the head, what lies behind a position, and where it begins', async (beside, driver) => {
      const { owner } = beside;
      await driver.insert('a');
      for (let n = 0; n < 20; n += 1) await driver.insert('b');
      const events = await owner.untilEvents(21);
      const [first, last] = [events[0]?.position ?? '', events.at(-1)?.position ?? ''];
      const state = await beside.stateBehind(last);
      expect(state.identity).toEqual(beside.identity);
      expect(state.earliest).not.toBeNull();
      expect(state.compare(state.earliest ?? '', first)).toBeLessThan(0);
      expect(state.compare(first, last)).toBeLessThan(0);
      expect(state.compare(state.earliest ?? '', state.head)).toBeLessThan(0);
      expect(state.compare(state.head, state.earliest ?? '')).toBeGreaterThan(0);
      const bytes = [first, last, state.head].map((position) => state.bytesBehind(position) ?? -1);
      expect(bytes).toEqual([...bytes].sort((a, b) => b - a));
      expect(bytes[0]).toBeGreaterThan(bytes[1] ?? 0);
      expect(bytes[2]).toBe(0);
      expect(state.retainedBytes).toBeGreaterThan(0);
      const reader = await beside.open('earliest');
      const all = reader.bytesBetween(first, last) ?? 0;
      expect(all).toBeGreaterThan(0);
      expect(reader.bytesBetween(first, first)).toBe(0);
      expect(bytes[0]).toBeGreaterThanOrEqual(all);
    });

    each('a reader that has read all has reached the head', async (beside, driver) => {
      for (let n = 0; n < 3; n += 1) await driver.insert('a');
      await beside.owner.untilEvents(3);
      const { head } = await beside.stateBehind(beside.owner.events.at(-1)?.position ?? '');
      const reading = await beside.reading('earliest');
      await reading.until('the head is passed', () =>
        reading.passed.some((position) => reading.stream.compare(position, head) >= 0),
      );
      expect(reading.ids).toEqual(beside.owner.ids);
    });
  });
}
