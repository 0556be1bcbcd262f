/**
 * Within these places of the decimal point the servers write a number out, and beyond the larger one if it has digits
 * behind the point: 1234567890123456.5, but 1.234567890123456e15 (strings/dtoa.cc, my_gcvt).
 */
const LARGEST_PLACE = 15;
const SMALLEST_PLACE = -14;

/** A double as both servers print it: the shortest digits that read back, and an exponent only far from zero. */
export function doubleText(value: number): string {
  return laidOut(value.toExponential(), Object.is(value, -0));
}

/** A float with the shortest digits that read back as the same float: the servers' own print has only six. */
export function floatText(value: number): string {
  for (let digits = 1; digits < 9; digits += 1) {
    const text = value.toExponential(digits - 1);
    if (Math.fround(Number(text)) === value) return laidOut(text, Object.is(value, -0));
  }
  return laidOut(value.toExponential(8), false);
}

/** @param exponential `-1.25e+3`, as JavaScript writes it; the sign of -0 it leaves out */
function laidOut(exponential: string, negativeZero: boolean): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(exponential);
  if (match === null) return exponential;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const digits = (first + rest).replace(/0+$/, '') || '0';
  const place = digits === '0' ? 1 : Number(exponent) + 1;
  return (negativeZero ? '-' : sign) + written(digits, place);
}

/** @param place of the decimal point behind the first digit's left side: 1 for 1.25, 0 for 0.125 */
function written(digits: string, place: number): string {
  if (place < SMALLEST_PLACE || (place > LARGEST_PLACE && digits.length <= place)) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${digits.slice(0, 1)}${fraction}e${String(place - 1)}`;
  }
  if (place <= 0) return `0.${'0'.repeat(-place)}${digits}`;
  if (digits.length <= place) return digits.padEnd(place, '0');
  return `${digits.slice(0, place)}.${digits.slice(place)}`;
}
