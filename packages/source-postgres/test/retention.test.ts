import { describe, expect, it } from 'vitest';
import { Retention } from '../src/retention/retention.js';
import type { WalFacts } from '../src/wal-facts.js';

const HOUR = 3_600_000;

function facts(walEnd: number, server: Partial<WalFacts> = {}): WalFacts {
  return { walEnd: BigInt(walEnd), serverLimit: null, safe: null, ...server };
}

describe('with an age and a limit of bytes', () => {
  it('holds for the age while there is room', () => {
    const retention = new Retention({ age: HOUR, bytes: 1_000 }, 0n, 0);
    retention.save(100n, 1_000_000);
    retention.decide(HOUR, facts(500));
    expect(retention.released).toBe(0n);
    expect(retention.status).toEqual({ heldBytes: 100, yielded: false });
    retention.decide(HOUR + 1_000_000, facts(500));
    expect(retention.released).toBe(100n);
    expect(retention.status).toEqual({ heldBytes: 0, yielded: false });
  });

  it('yields at the limit, says so, and says it until the age is kept again', () => {
    const retention = new Retention({ age: HOUR, bytes: 1_000 }, 0n, 0);
    retention.save(400n, 60_000);
    retention.save(800n, 120_000);
    retention.decide(121_000, facts(1_200));
    expect(retention.released).toBe(400n);
    expect(retention.status).toEqual({ heldBytes: 400, yielded: true });
    retention.decide(121_000 + HOUR - 1, facts(1_300));
    expect(retention.status.yielded).toBe(true);
    retention.decide(121_000 + HOUR, facts(1_300));
    expect(retention.status.yielded).toBe(false);
  });

  it('does not count as held what is not settled: it has yielded all it had', () => {
    const retention = new Retention({ age: HOUR, bytes: 1_000 }, 0n, 0);
    retention.save(100n, 60_000);
    retention.decide(61_000, facts(50_000));
    expect(retention.released).toBe(100n);
    expect(retention.status).toEqual({ heldBytes: 0, yielded: true });
  });
});

describe('with bytes alone', () => {
  it('keeps as many as it may, and that is no yielding', () => {
    const retention = new Retention({ age: null, bytes: 1_000 }, 0n, 0);
    for (let lsn = 100; lsn <= 5_000; lsn += 100) {
      retention.save(BigInt(lsn), lsn);
      retention.decide(lsn, facts(lsn));
      expect(Number(retention.released)).toBe(Math.max(0, lsn - 1_000));
      expect(retention.status.yielded).toBe(false);
    }
  });
});

describe('where the server has a limit of its own', () => {
  it('holds a third of it at most: the server keeps up to twice of what is held', () => {
    const retention = new Retention({ age: HOUR, bytes: null }, 0n, 0);
    for (let lsn = 100; lsn <= 1_000; lsn += 100) retention.save(BigInt(lsn), lsn * 1_000);
    retention.decide(1_000_000, facts(1_000, { serverLimit: 3_000, safe: 2_000 }));
    expect(retention.status).toEqual({ heldBytes: 1_000, yielded: false });
    retention.decide(1_000_001, facts(1_250, { serverLimit: 3_000, safe: 1_750 }));
    expect(retention.released).toBe(300n);
    expect(retention.status.yielded).toBe(true);
  });

  it('lets everything go that is saved when a quarter of it is left', () => {
    const retention = new Retention({ age: HOUR, bytes: null }, 0n, 0);
    for (let lsn = 100; lsn <= 1_000; lsn += 100) retention.save(BigInt(lsn), lsn * 1_000);
    retention.decide(1_000_000, facts(1_000, { serverLimit: 4_000, safe: 1_000 }));
    expect(retention.released).toBe(0n);
    retention.decide(1_000_001, facts(1_000, { serverLimit: 4_000, safe: 999 }));
    expect(retention.released).toBe(1_000n);
    expect(retention.status).toEqual({ heldBytes: 0, yielded: true });
  });

  it('with bytes alone has yielded as long as the server allows fewer', () => {
    const retention = new Retention({ age: null, bytes: 10_000 }, 0n, 0);
    retention.save(1_000n, 1);
    retention.decide(2, facts(2_000, { serverLimit: 3_000, safe: 2_500 }));
    expect(retention.status).toEqual({ heldBytes: 0, yielded: true });
    retention.decide(3, facts(2_000, { serverLimit: 60_000, safe: 50_000 }));
    expect(retention.status.yielded).toBe(false);
  });
});

it('after a restart what was held stays held, and its age counts anew', () => {
  const retention = new Retention({ age: HOUR, bytes: null }, 100n, 7 * HOUR);
  retention.save(5_000n, 7 * HOUR);
  retention.decide(8 * HOUR - 1, facts(6_000));
  expect(retention.released).toBe(100n);
  expect(retention.status.heldBytes).toBe(4_900);
  // It was saved right at the start, so it is remembered a step later.
  retention.decide(8 * HOUR + HOUR / 256, facts(6_000));
  expect(retention.released).toBe(5_000n);
});
