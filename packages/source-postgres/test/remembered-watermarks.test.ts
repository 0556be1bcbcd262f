import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RememberedWatermarks } from '../src/retention/remembered-watermarks.js';

describe('by age', () => {
  it('releases the newest watermark that is older than the age, and holds the others', () => {
    const watermarks = new RememberedWatermarks({ age: 1_000, bytes: Infinity }, 100n, 0);
    watermarks.save(200n, 100);
    watermarks.save(300n, 500);
    watermarks.save(400n, 900);
    for (const [now, released] of [
      [1_099, 100n],
      [1_100, 200n],
      [1_499, 200n],
      [1_899, 300n],
      [1_900, 400n],
      [9_000, 400n],
    ] as const) {
      watermarks.releaseByAge(now);
      expect(watermarks.released, String(now)).toBe(released);
    }
    expect(watermarks.heldBytes).toBe(0);
  });

  it('releases what was saved last too, though it came within a step and nothing follows', () => {
    const watermarks = new RememberedWatermarks({ age: 256_000, bytes: Infinity }, 100n, 0);
    watermarks.save(200n, 5_000);
    watermarks.save(300n, 5_001);
    watermarks.releaseByAge(6_000);
    watermarks.releaseByAge(261_000);
    expect(watermarks.released).toBe(200n);
    watermarks.releaseByAge(262_000);
    expect(watermarks.released).toBe(300n);
  });
});

describe('by bytes', () => {
  it('releases as few as will do', () => {
    const watermarks = new RememberedWatermarks({ age: Infinity, bytes: 1_000 }, 0n, 0);
    for (let lsn = 100n; lsn <= 900n; lsn += 100n) watermarks.save(lsn, 0);
    expect(watermarks.releaseByBytes(1_000n, 1_000)).toBe(false);
    expect(watermarks.releaseByBytes(1_250n, 1_000)).toBe(true);
    expect(watermarks.released).toBe(300n);
  });

  it('never releases what is not saved, however much lies behind it', () => {
    const watermarks = new RememberedWatermarks({ age: 1_000, bytes: 100 }, 0n, 0);
    watermarks.save(50n, 1);
    expect(watermarks.releaseByBytes(1_000_000n, 100)).toBe(true);
    expect(watermarks.released).toBe(50n);
    expect(watermarks.releaseByBytes(2_000_000n, 100)).toBe(false);
    expect(watermarks.heldBytes).toBe(0);
  });
});

describe('whatever is saved, and whenever it is asked', () => {
  const AGE = 2_560;
  const BYTES = 25_600;
  const steps = fc.array(
    fc.record({ wait: fc.nat(AGE / 2), written: fc.nat(BYTES / 2), saves: fc.boolean() }),
    { minLength: 1, maxLength: 400 },
  );

  it('what is released is saved and only grows; what is held is as young as asked for, or as little as allowed', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const watermarks = new RememberedWatermarks({ age: AGE, bytes: BYTES }, 0n, 0);
        const saves = [{ lsn: 0n, at: 0 }];
        let [now, end] = [0, 0n];
        for (const { wait, written, saves: isSaved } of history) {
          now += wait;
          end += BigInt(written);
          if (isSaved) {
            watermarks.save(end, now);
            saves.push({ lsn: end, at: now });
          }
          const before = watermarks.released;
          watermarks.releaseByAge(now);
          const byAge = watermarks.released;
          watermarks.releaseByBytes(end, BYTES);
          const { released } = watermarks;
          expect(released >= before).toBe(true);
          expect(saves.some(({ lsn }) => lsn === released)).toBe(true);
          // Nothing is released by its age that was not saved so long ago.
          if (byAge > before) {
            expect(saves.some(({ lsn, at }) => lsn === byAge && now - at >= AGE)).toBe(true);
          }
          const saved = saves.at(-1)?.lsn ?? 0n;
          expect(end - released <= BigInt(BYTES) || released === saved).toBe(true);
          expect(watermarks.heldBytes).toBe(Number(saved - released));
          expect(watermarks.size).toBeLessThanOrEqual(2 * 257);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('remembers as many for an hour as for a day: memory is bounded by the step', () => {
    const age = 86_400_000;
    const watermarks = new RememberedWatermarks({ age, bytes: Infinity }, 0n, 0);
    let most = 0;
    for (let now = 0; now < 2 * age; now += 10_000) {
      watermarks.save(BigInt(now), now);
      watermarks.releaseByAge(now);
      most = Math.max(most, watermarks.size);
      // Held for the age, and at most a step longer.
      if (now > age * 1.1) {
        expect(Number(watermarks.released)).toBeGreaterThanOrEqual(now - age * (1 + 2 / 256));
        expect(Number(watermarks.released)).toBeLessThanOrEqual(now - age);
      }
    }
    expect(most).toBeLessThanOrEqual(257);
  });
});
