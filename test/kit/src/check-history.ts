import type { CommittedEvent } from './commit-witness.js';
import type { HistoryEntry } from './history.js';

/** What a history has to say about the promises. */
export interface Verdict {
  /** Ids that committed and that no handler has succeeded for. */
  readonly missing: readonly string[];
  /** Breaches of the order, in sentences. */
  readonly violations: readonly string[];
  /** Ids that a handler was started for although one was in an earlier run. Each once. */
  readonly redelivered: readonly string[];
}

/** Where a key stands. */
interface KeyState {
  /** The run that the rest belongs to. */
  run: number;
  /** The ids whose handler runs. */
  running: readonly string[] | null;
  /** The ids that failed last and must be the next ones. */
  failed: { readonly ids: readonly string[]; readonly attempt: number } | null;
  /** Place of the next event, among the events of the key; null at the start of a run. */
  next: number | null;
  /** Place after the furthest event that any run has succeeded for. */
  done: number;
}

/**
 * Holds what handlers did against what committed.
 *
 * Completeness: each committed event has succeeded. Order, key by key: a handler starts when none of its key runs
 * (in its run; those of a killed one have ended); within a run each event is the next one in commit order, tried
 * until it succeeds; a later run may begin again with any event that was handled before, and never further on
 * than the first that was not. Each event says the position where it lies.
 *
 * @param placeOf what of an event's position the witness knows of
 * @param broken ids that fail for good: their keys are parked, and what comes next of such a key is the same event
 *   once more, when somebody has released it
 */
export function checkHistory(
  committed: readonly CommittedEvent[],
  entries: readonly HistoryEntry[],
  placeOf: (position: string) => string = (position) => position,
  broken: ReadonlySet<string> = new Set(),
): Verdict {
  const check = new Check(committed, placeOf, broken);
  for (const entry of entries) check.read(entry);
  return check.verdict();
}

class Check {
  readonly #committed: readonly CommittedEvent[];
  readonly #placeOf: (position: string) => string;
  readonly #broken: ReadonlySet<string>;
  readonly #places = new Map<string, CommittedEvent & { readonly place: number }>();
  readonly #states = new Map<string, KeyState>();
  readonly #succeeded = new Set<string>();
  readonly #firstRun = new Map<string, number>();
  readonly #redelivered = new Set<string>();
  readonly #violations: string[] = [];

  constructor(
    committed: readonly CommittedEvent[],
    placeOf: (position: string) => string,
    broken: ReadonlySet<string>,
  ) {
    this.#committed = committed;
    this.#placeOf = placeOf;
    this.#broken = broken;
    const lengths = new Map<string, number>();
    for (const event of committed) {
      const place = lengths.get(event.key) ?? 0;
      lengths.set(event.key, place + 1);
      this.#places.set(event.id, { ...event, place });
    }
  }

  read(entry: HistoryEntry): void {
    const state = this.#stateOf(entry);
    if (entry.what === 'started') this.#start(entry, state);
    else this.#end(entry, state);
  }

  verdict(): Verdict {
    return {
      missing: this.#committed.filter(({ id }) => !this.#succeeded.has(id)).map(({ id }) => id),
      violations: this.#violations,
      redelivered: [...this.#redelivered],
    };
  }

  #start(entry: HistoryEntry, state: KeyState): void {
    if (state.running !== null)
      this.#violation(entry, `started while ${state.running.join(', ')} was running`);
    state.running = entry.ids;
    for (const [index, id] of entry.ids.entries()) {
      this.#checkEvent(entry, id, entry.positions[index] ?? '');
      const firstRun = this.#firstRun.get(id) ?? entry.run;
      this.#firstRun.set(id, firstRun);
      if (firstRun < entry.run) this.#redelivered.add(id);
    }
    if (state.failed === null) this.#checkTurn(entry, state);
    else this.#checkRetry(entry, state.failed);
  }

  #checkEvent(entry: HistoryEntry, id: string, position: string): void {
    const event = this.#places.get(id);
    if (event?.key !== entry.key) this.#violation(entry, `${id} did not commit under this key`);
    else if (event.position !== this.#placeOf(position)) {
      this.#violation(entry, `${id} lies at ${event.position} and says ${position}`);
    }
  }

  #checkTurn(entry: HistoryEntry, state: KeyState): void {
    if (entry.attempt !== 1) this.#violation(entry, `attempt ${String(entry.attempt)} without a failure`);
    const first = this.#places.get(entry.ids[0] ?? '')?.place ?? 0;
    if (first > (state.next ?? state.done))
      this.#violation(entry, 'started before an earlier one had settled');
    if (state.next !== null && first < state.next)
      this.#violation(entry, 'started again after it had settled');
    for (const [index, id] of entry.ids.entries()) {
      if (this.#places.get(id)?.place !== first + index) this.#violation(entry, `${id} is not the next one`);
    }
    state.next = first;
  }

  #checkRetry(entry: HistoryEntry, failed: NonNullable<KeyState['failed']>): void {
    if (entry.ids.join() !== failed.ids.join()) {
      this.#violation(entry, `started while ${failed.ids.join(', ')} had failed and was to be tried again`);
    } else if (entry.attempt !== failed.attempt + 1) {
      this.#violation(entry, `attempt ${String(entry.attempt)} after attempt ${String(failed.attempt)}`);
    }
  }

  #end(entry: HistoryEntry, state: KeyState): void {
    if (state.running?.join() !== entry.ids.join()) this.#violation(entry, 'ended, and was not running');
    state.running = null;
    if (entry.what === 'failed' && entry.ids.some((id) => this.#broken.has(id))) {
      state.failed = null;
      return;
    }
    if (entry.what === 'failed') {
      state.failed = { ids: entry.ids, attempt: entry.attempt };
      return;
    }
    state.failed = null;
    state.next = (this.#places.get(entry.ids[0] ?? '')?.place ?? 0) + entry.ids.length;
    state.done = Math.max(state.done, state.next);
    for (const id of entry.ids) this.#succeeded.add(id);
  }

  #stateOf({ key, run }: HistoryEntry): KeyState {
    const before = this.#states.get(key);
    if (before?.run === run) return before;
    const state = { run, running: null, failed: null, next: null, done: before?.done ?? 0 };
    this.#states.set(key, state);
    return state;
  }

  #violation({ run, key, ids, what }: HistoryEntry, problem: string): void {
    this.#violations.push(`run ${String(run)}, key ${key}, ${ids.join(', ')} (${what}): ${problem}`);
  }
}
