import type { CallEntry } from './call-entry.js';
import type { Placed } from './commit-order.js';
import { excerptOf } from './excerpt.js';
import type { Finding, Judgement } from './judgement.js';

/** What a finding is made of. */
export interface Evidence {
  readonly key: string;
  readonly ids: readonly string[];
  readonly says: string;
  readonly rows: readonly (Placed | undefined)[];
  readonly entries: readonly (CallEntry | undefined)[];
  readonly notes?: readonly string[];
}

/** Collects findings by their kind. */
export class Findings {
  readonly #lists: Record<keyof Judgement, Finding[]> = {
    missed: [],
    swaps: [],
    overlaps: [],
    strays: [],
    repeats: [],
    duplicates: [],
    tolerated: [],
  };

  add(kind: keyof Judgement, { key, ids, says, rows, entries, notes = [] }: Evidence): void {
    this.#lists[kind].push({ key, ids, says, excerpt: excerptOf(rows, entries, ...notes) });
  }

  get judgement(): Judgement {
    return this.#lists;
  }
}
