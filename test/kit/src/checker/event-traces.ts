import type { CallEntry } from './call-entry.js';
import type { Term } from './lives.js';

/** What was done with one event. */
export interface EventTrace {
  readonly firstStart: CallEntry;
  lastStart: CallEntry;
  lastEnd: CallEntry | undefined;
  lastSuccess: CallEntry | undefined;
  /** The first start in each term, and how it went on. */
  readonly terms: Map<Term, { readonly start: CallEntry; success: CallEntry | undefined }>;
}

/** What was done with the events of one key. */
export class EventTraces {
  readonly #traces = new Map<string, EventTrace>();

  of(id: string): EventTrace | undefined {
    return this.#traces.get(id);
  }

  hasSucceeded(id: string): boolean {
    return this.#traces.get(id)?.lastSuccess !== undefined;
  }

  start(id: string, term: Term, call: CallEntry): void {
    const trace = this.#traces.get(id) ?? {
      firstStart: call,
      lastStart: call,
      lastEnd: undefined,
      lastSuccess: undefined,
      terms: new Map(),
    };
    trace.lastStart = call;
    if (!trace.terms.has(term)) trace.terms.set(term, { start: call, success: undefined });
    this.#traces.set(id, trace);
  }

  end(id: string, term: Term, entry: CallEntry): void {
    const trace = this.#traces.get(id);
    if (trace === undefined) return;
    trace.lastEnd = entry;
    if (entry.what !== 'succeeded') return;
    trace.lastSuccess = entry;
    const ofTerm = trace.terms.get(term);
    if (ofTerm !== undefined) ofTerm.success = entry;
  }
}
