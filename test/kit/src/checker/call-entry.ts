import type { HistoryEntry } from '../history.js';

/** An entry of the history with its number in it, from 1 on. */
export interface CallEntry extends HistoryEntry {
  readonly number: number;
}

export function isSameCall(a: CallEntry, b: CallEntry): boolean {
  return a.run === b.run && a.ids.join() === b.ids.join();
}
