import { InvalidArgumentError } from 'commander';

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `10m` in milliseconds. A number without a unit is refused: whoever types 10 may mean either. */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (number === undefined)
    throw new InvalidArgumentError('Use a number with ms, s, m, h or d, such as 10m.');
  return Number(number) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
}
