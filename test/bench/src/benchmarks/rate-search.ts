/** Doublings at the most: 1,000 times the first rate. */
const DOUBLINGS = 10;
const BISECTIONS = 3;

/**
 * The highest rate that holds: doubled until one does not, then halved in between, three times. NaN when not even the
 * first one holds.
 */
export async function highestRate(first: number, holds: (rate: number) => Promise<boolean>): Promise<number> {
  let held = NaN;
  let broken = first;
  for (let doubling = 0; doubling <= DOUBLINGS && (await holds(broken)); doubling += 1) {
    held = broken;
    broken *= 2;
  }
  if (Number.isNaN(held)) return NaN;
  for (let bisection = 0; bisection < BISECTIONS; bisection += 1) {
    const middle = Math.round((held + broken) / 2);
    if (await holds(middle)) held = middle;
    else broken = middle;
  }
  return held;
}
