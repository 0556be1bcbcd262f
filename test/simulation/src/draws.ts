/** What is drawn while a schedule is played. */
export type Purpose =
  | 'handler'
  | 'handler time'
  | 'network'
  | 'batch'
  | 'seek'
  | 'offsets'
  | 'offsets time'
  | 'letters'
  | 'letters time'
  | 'lost request'
  | 'restart';

const PURPOSES: readonly Purpose[] = [
  'handler',
  'handler time',
  'network',
  'batch',
  'seek',
  'offsets',
  'offsets time',
  'letters',
  'letters time',
  'lost request',
  'restart',
];

/**
 * The one source of chance while a schedule is played. A draw depends on what it is for and on nothing that was drawn
 * before, so a scenario that is made smaller goes on failing in the same way.
 */
export class Draws {
  static readonly #numbers = new Map(
    PURPOSES.map((purpose, index) => [purpose, Math.imul(index + 1, 0x9e3779b1)]),
  );
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed | 0;
  }

  /** A number in [0, 1), always the same one for the same arguments. */
  unit(purpose: Purpose, which: number, nth = 0): number {
    const first = (this.#seed + (Draws.#numbers.get(purpose) ?? 0)) | 0;
    const second = (Math.imul(first ^ (first >>> 15), 0x2c1b3c6d) + Math.imul(which + 1, 0x85ebca6b)) | 0;
    const third = (Math.imul(second ^ (second >>> 13), 0x297a2d39) + Math.imul(nth + 1, 0xc2b2ae35)) | 0;
    return scrambled(third);
  }

  between(least: number, most: number, purpose: Purpose, which: number, nth = 0): number {
    return least + this.unit(purpose, which, nth) * (most - least);
  }
}

function scrambled(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
