import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PermanentError } from '../src/errors.js';
import { delayCeiling, nextDelay, type RetryPolicy } from '../src/retry-policy.js';
import { STEADY } from './fixtures.js';

const failure = new Error('the handler failed');

const policies: fc.Arbitrary<RetryPolicy> = fc.record({
  attempts: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(Infinity)),
  maxElapsed: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.constant(Infinity)),
  initialDelay: fc.integer({ min: 0, max: 10_000 }),
  maxDelay: fc.integer({ min: 0, max: 100_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  jitter: fc.constantFrom('full', 'none'),
});

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('retry policy', () => {
  it.each([
    { attempt: 1, ceiling: 100 },
    { attempt: 2, ceiling: 200 },
    { attempt: 3, ceiling: 400 },
    { attempt: 4, ceiling: 800 },
    { attempt: 5, ceiling: 1_000 },
    { attempt: 6, ceiling: 1_000 },
    { attempt: 5_000, ceiling: 1_000 },
  ])('waits at most $ceiling ms after call $attempt', ({ attempt, ceiling }) => {
    expect(delayCeiling(STEADY, attempt)).toBe(ceiling);
    expect(nextDelay(STEADY, attempt, 0, failure, 0.5)).toBe(ceiling);
  });

  it('never lowers the ceiling with a further failure, nor raises it above maxDelay', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 3_000 }), (policy, attempt) => {
        const ceiling = delayCeiling(policy, attempt);
        expect(ceiling).toBeGreaterThanOrEqual(Math.min(policy.initialDelay, policy.maxDelay));
        expect(ceiling).toBeLessThanOrEqual(policy.maxDelay);
        expect(delayCeiling(policy, attempt + 1)).toBeGreaterThanOrEqual(ceiling);
      }),
    );
  });

  it('draws a full jitter evenly between zero and the ceiling', () => {
    const policy: RetryPolicy = { ...STEADY, jitter: 'full' };
    expect([0, 0.25, 0.5, 0.75].map((random) => nextDelay(policy, 2, 0, failure, random))).toEqual([
      0, 50, 100, 150,
    ]);
  });

  it('keeps a jittered delay within [0, ceiling]', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 3_000 }), unit, (policy, attempt, random) => {
        const always = { ...policy, attempts: Infinity, maxElapsed: Infinity };
        const delay = nextDelay(always, attempt, 0, failure, random);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(delayCeiling(policy, attempt));
      }),
    );
  });

  it('stays a time that is due, however often a policy without delay has failed', () => {
    const atOnce: RetryPolicy = { ...STEADY, initialDelay: 0 };
    for (const attempt of [1, 2, 1_024, 1_025, 1_026, 1_000_000]) {
      expect(nextDelay(atOnce, attempt, 0, failure, 0.5)).toBe(0);
    }
  });

  it('calls the handler exactly `attempts` times', () => {
    fc.assert(
      fc.property(policies, unit, (policy, random) => {
        const patient = { ...policy, attempts: Math.min(policy.attempts, 50), maxElapsed: Infinity };
        let calls = 1;
        while (nextDelay(patient, calls, 0, failure, random) !== null) calls += 1;
        expect(calls).toBe(patient.attempts);
      }),
    );
  });

  it.each([
    { elapsed: 0, gaveUp: false },
    { elapsed: 4_999, gaveUp: false },
    { elapsed: 5_000, gaveUp: true },
    { elapsed: 5_001, gaveUp: true },
  ])('gives up once maxElapsed has passed: at $elapsed of 5000 ms it is $gaveUp', ({ elapsed, gaveUp }) => {
    expect(nextDelay({ ...STEADY, maxElapsed: 5_000 }, 1, elapsed, failure, 0.5) === null).toBe(gaveUp);
  });

  it('gives up at the first failure when maxElapsed is zero', () => {
    expect(nextDelay({ ...STEADY, maxElapsed: 0 }, 1, 0, failure, 0.5)).toBeNull();
  });

  it('gives up at the first of the two limits', () => {
    const policy = { ...STEADY, attempts: 3, maxElapsed: 5_000 };
    expect(nextDelay(policy, 3, 0, failure, 0.5)).toBeNull();
    expect(nextDelay(policy, 1, 5_000, failure, 0.5)).toBeNull();
    expect(nextDelay(policy, 2, 4_999, failure, 0.5)).toBe(200);
  });

  it('never retries a PermanentError, nor one derived from it', () => {
    class NoSuchCustomerError extends PermanentError {}
    fc.assert(
      fc.property(policies, fc.nat(), unit, (policy, elapsed, random) => {
        expect(nextDelay(policy, 1, elapsed, new PermanentError('never'), random)).toBeNull();
        expect(nextDelay(policy, 1, elapsed, new NoSuchCustomerError('never'), random)).toBeNull();
      }),
    );
  });

  it.each([undefined, null, 'text', 0, { name: 'PermanentError' }])(
    'retries whatever else is thrown: %s',
    (thrown) => {
      expect(nextDelay(STEADY, 1, 0, thrown, 0.5)).toBe(100);
    },
  );
});
