import type { CallEntry } from './call-entry.js';
import type { Placed } from './commit-order.js';
import type { EventTraces } from './event-traces.js';
import type { Room } from './room.js';
import type { TermOfKey } from './term-of-key.js';

/** A later event that was started while an earlier one had not settled. */
interface Gap {
  readonly earlier: Placed;
  readonly later: Placed;
  readonly call: CallEntry;
}

/**
 * Looks whether the events of one key come in commit order. An event that was passed over and never comes is missed,
 * and not also out of order; so what is behind a gap shows at the end.
 */
export class OrderOfKey {
  readonly #room: Room;
  readonly #rows: readonly Placed[];
  readonly #traces: EventTraces;
  /** By the earlier event. */
  readonly #gaps = new Map<string, Gap>();
  /** Earlier events of swaps that are told. */
  readonly #swapped = new Set<string>();
  #firstUnsettled = 0;

  constructor(room: Room, traces: EventTraces) {
    this.#room = room;
    this.#rows = room.order.ofKey(room.key);
    this.#traces = traces;
  }

  start(rows: readonly Placed[], state: TermOfKey, call: CallEntry): void {
    let before: Placed | undefined;
    for (const row of rows) {
      if (before !== undefined && row.place < before.place) {
        this.#swap(row, before, `${row.id} is called behind ${before.id} in one call`, [call]);
      } else {
        const from = before === undefined ? (state.next ?? this.#firstUnsettledPlace()) : before.place + 1;
        if (row.place > from) this.#passOver(this.#rows.slice(from, row.place), row, state, call);
        else if (row.place < from) this.#goBack(row, state, call);
      }
      before = row;
    }
    const first = rows[0]?.place;
    if (first === undefined) return;
    if (state.next === null || first >= state.next) state.furthest = call;
    state.next = Math.max(state.next ?? first, first);
  }

  settle({ ids }: CallEntry, state: TermOfKey): void {
    for (const id of ids) {
      state.settled.add(id);
      const row = this.#room.order.row(id);
      if (row?.key === this.#room.key) state.next = Math.max(state.next ?? 0, row.place + 1);
    }
  }

  /** All calls are known: whether what was passed over has come later. */
  conclude(): void {
    for (const { earlier, later, call } of this.#gaps.values()) {
      const { lastStart, lastSuccess } = this.#traces.of(earlier.id) ?? {};
      const after = [lastStart, lastSuccess].find((entry) => (entry?.number ?? 0) > call.number);
      if (after === undefined) continue;
      this.#swap(
        earlier,
        later,
        `${later.id} starts before ${earlier.id} has settled, which committed before it`,
        [call, after],
      );
    }
  }

  /** The call starts further on than it should. */
  #passOver(passed: readonly Placed[], later: Placed, state: TermOfKey, call: CallEntry): void {
    const runningHere = new Set(state.running.flatMap(({ ids }) => ids));
    for (const earlier of passed) {
      // Two at once are an overlap, which is told as such.
      if (this.#isLeftOut(earlier) || runningHere.has(earlier.id)) continue;
      const isSettled = this.#traces.hasSucceeded(earlier.id);
      if (state.next === null && isSettled) continue;
      state.skipped.add(earlier.id);
      if (!isSettled) {
        if (!this.#gaps.has(earlier.id)) this.#gaps.set(earlier.id, { earlier, later, call });
      } else {
        const says = `${later.id} starts in a life that began again before ${earlier.id} and has passed it over`;
        this.#swap(earlier, later, says, [state.furthest, call]);
      }
    }
  }

  /** The call starts with an event that the term has behind it; or where a new term may begin again. */
  #goBack(row: Placed, state: TermOfKey, call: CallEntry): void {
    if (state.next === null || state.mayGoBackTo(row.id, call)) return;
    const later = this.#room.order.row(state.furthest?.ids.at(-1) ?? '') ?? row;
    this.#swap(row, later, `${row.id} starts after ${later.id} in one life`, [state.furthest, call]);
  }

  #swap(earlier: Placed, later: Placed, says: string, entries: readonly (CallEntry | undefined)[]): void {
    if (this.#swapped.has(earlier.id)) return;
    this.#swapped.add(earlier.id);
    const { findings, key } = this.#room;
    const ids = [earlier.id, later.id];
    findings.add('swaps', { key, ids, says: `${says}.`, rows: [earlier, later], entries });
  }

  #isLeftOut({ id }: Placed): boolean {
    return this.#room.options.leftOut?.has(id) === true;
  }

  #firstUnsettledPlace(): number {
    for (; ; this.#firstUnsettled += 1) {
      const row = this.#rows[this.#firstUnsettled];
      if (row === undefined || !this.#traces.hasSucceeded(row.id)) return this.#firstUnsettled;
    }
  }
}
