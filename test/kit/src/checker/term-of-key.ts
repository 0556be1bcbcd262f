import type { CallEntry } from './call-entry.js';
import type { Term } from './lives.js';

/** Where a key stands in one term. */
export class TermOfKey {
  readonly term: Term;
  /** Calls without an end so far: one at most, if all is well. */
  readonly running: CallEntry[] = [];
  /** By the first event of the call: those that failed and are to be tried again. */
  readonly failed = new Map<string, CallEntry>();
  readonly settled = new Set<string>();
  /** Events that were passed over; the fault is told already, or will be. */
  readonly skipped = new Set<string>();
  /** Place of the next event; null at the beginning of the term. It never goes back. */
  next: number | null = null;
  /** The start that went furthest. */
  furthest: CallEntry | undefined;

  constructor(term: Term) {
    this.term = term;
  }

  /** Whether an event may be started though later ones were: it is tried again, or its fault is told elsewhere. */
  mayGoBackTo(id: string, call: CallEntry): boolean {
    return this.settled.has(id) || this.skipped.has(id) || this.failed.has(call.ids[0] ?? '');
  }
}
