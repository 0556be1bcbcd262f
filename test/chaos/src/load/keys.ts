import type { Random } from '@strandline/test-kit';

/** k0 is the hot one. */
export const KEYS = 30;
/** From here on they may be slow, or fail: no big transaction has them, whose rows would take minutes then. */
export const FIRST_ODD = 20;
const HOT = 0.2;

export function keyName(number: number): string {
  return `k${String(number)}`;
}

export function drawKey(random: Random): string {
  return keyName(random.chance(HOT) ? 0 : random.between(1, KEYS - 1));
}
