import { hostname } from 'node:os';
import type { Controls, HeldKey, Order } from '@strandline/core';
import { pipelineError } from '../errors.js';

/** Keys that may be held at a time, and characters of the texts; of all together so that they stay one small record. */
const MOST_HELD = 10_000;
const LONGEST_KEY = 1_024;
const LONGEST_BY = 100;
const LONGEST_NOTE = 500;
const LONGEST_OF_ALL = 4 * 1024 * 1024;

/** Who orders something, and why. */
export interface OrderOptions {
  /** At most 100 characters. Default: this process and its machine. */
  readonly by?: string;
  /** At most 500 characters. */
  readonly note?: string;
}

/** What of the controls is ordered. */
export type Ordered = Pick<Controls, 'paused' | 'held'>;

/** Throws `PIPELINE_CONTROL`. */
export function orderOf({ by, note = '' }: OrderOptions): Order {
  const who = by ?? `process ${String(process.pid)} on ${hostname()}`.slice(0, LONGEST_BY);
  mustFit('by', who, LONGEST_BY);
  mustFit('note', note, LONGEST_NOTE);
  return { by: who, at: new Date().toISOString(), note };
}

/** A key that can be held. Throws `PIPELINE_CONTROL`. */
export function checkKey(key: string): void {
  mustFit('key', key, LONGEST_KEY);
}

/** Throws `PIPELINE_CONTROL` when it is more than the offset store is asked to keep. */
export function withHeld({ paused, held }: Ordered, key: HeldKey): Ordered {
  const next = [...held, key];
  const length = next.reduce(
    (sum, { key: name, by, note }) => sum + name.length + by.length + note.length,
    0,
  );
  if (next.length <= MOST_HELD && length <= LONGEST_OF_ALL) return { paused, held: next };
  throw pipelineError(
    'PIPELINE_CONTROL',
    `${String(held.length)} keys are held: at most ${String(MOST_HELD)} may be, with ${String(LONGEST_OF_ALL)} characters in all.`,
    'Release some, or pause the pipeline.',
    { key: key.key },
  );
}

export function withoutHeld({ paused, held }: Ordered, key: string): Ordered {
  return { paused, held: held.filter((one) => one.key !== key) };
}

function mustFit(what: string, text: unknown, longest: number): void {
  if (typeof text === 'string' && text.length <= longest) return;
  const found = typeof text === 'string' ? `has ${String(text.length)}` : `is ${typeof text}`;
  throw pipelineError(
    'PIPELINE_CONTROL',
    `\`${what}\` must be a text of at most ${String(longest)} characters, and ${found}.`,
    'Shorten it.',
  );
}
