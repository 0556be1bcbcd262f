import type { LetterCounts } from '@strandline/core';
import { amount } from '../text.js';

/** `orders: 2 keys with 10 letters that wait, 1 letter skipped` */
export function countsLine(pipeline: string, { keys, waiting, skipped }: LetterCounts): string {
  return `${pipeline}: ${amount(keys, 'key')} with ${amount(waiting, 'letter')} that wait, ${amount(skipped, 'letter')} skipped\n`;
}
