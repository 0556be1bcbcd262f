import type { Unit } from './figure.js';

/** A value as people read it. */
export function format(value: number, unit: Unit): string {
  switch (unit) {
    case 'ratio':
      return value.toFixed(3);
    case 'ms':
      return `${value.toFixed(2)} ms`;
    case 'µs/row':
      return `${value.toFixed(2)} µs/row`;
    case 'rows/s':
      return `${grouped(value)} rows/s`;
    case 'MiB':
      return `${value.toFixed(1)} MiB`;
    case 'bytes':
      return `${grouped(value)} B`;
    case 'count':
      return grouped(value);
  }
}

/** 200,000 */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
