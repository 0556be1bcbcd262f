import { pass, warn, type Verdict } from './finding.js';

/** One look at another machine's clock, all in milliseconds since the epoch. */
export interface ClockReading {
  /** When it was asked, and when the answer was there, by the clock of who asks. */
  readonly askedAt: number;
  readonly answeredAt: number;
  /** What it said. */
  readonly there: number;
}

/**
 * Milliseconds. Lag and the ages in `status` are the difference of two clocks and are read in seconds; what is kept by
 * age is kept for hours. Nothing that keeps events complete or in order looks at a clock, so this never fails.
 */
const TOLERATED = 1_000;

export const CLOCK_WHY =
  'Lag, ages and what is kept by its age compare the two clocks. No order and no offset depends on them.';

/** The other clock was read at some moment between question and answer: only what that can't explain is a difference. */
export function clockVerdict({ askedAt, answeredAt, there }: ClockReading): Verdict {
  const ahead = there > answeredAt ? there - answeredAt : there < askedAt ? there - askedAt : 0;
  const seconds = `${(Math.abs(ahead) / 1_000).toFixed(1)} s`;
  if (Math.abs(ahead) <= TOLERATED) return pass(`its clock and ours differ by ${seconds}`);
  return warn(
    `its clock is ${seconds} ${ahead > 0 ? 'ahead of' : 'behind'} ours`,
    'Let both machines follow the same time (NTP): `timedatectl` shows whether one does.',
  );
}
