const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const UNKNOWN = '–';

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : WHOLE.format(value);
}

export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return value < 10 ? ONE_DIGIT.format(value) : WHOLE.format(value);
}

export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? UNKNOWN : `${WHOLE.format(share * 100)} %`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1_000 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? ONE_DIGIT.format(size) : WHOLE.format(size)} ${units[unit] ?? ''}`;
}

/** One, two or no `thing`, with the number. */
export function amount(value: number, one: string, many = `${one}s`): string {
  return `${WHOLE.format(value)} ${value === 1 ? one : many}`;
}
