import { isSameCall, type CallEntry } from './call-entry.js';
import { checkCall } from './check-call.js';
import type { Placed } from './commit-order.js';
import { EventTraces } from './event-traces.js';
import type { Evidence } from './findings.js';
import type { Judgement } from './judgement.js';
import type { Term, Usurpation } from './lives.js';
import { OrderOfKey } from './order-of-key.js';
import type { Room } from './room.js';
import { TermOfKey } from './term-of-key.js';

/** Follows the calls of one key. */
export class KeyJudge {
  readonly #room: Room;
  readonly #traces = new EventTraces();
  readonly #order: OrderOfKey;
  readonly #terms = new Map<Term, TermOfKey>();
  /** Ids that are among the duplicates. */
  readonly #duplicates = new Set<string>();

  constructor(room: Room) {
    this.#room = room;
    this.#order = new OrderOfKey(room, this.#traces);
  }

  start(call: CallEntry): void {
    const { term, usurpation } = this.#room.lives.start(call);
    const state = this.#terms.get(term) ?? new TermOfKey(term);
    this.#terms.set(term, state);
    this.#lookForOverlaps(call, usurpation);
    const rows = checkCall(this.#room, state, call);
    for (const row of rows) this.#lookForRepetition(row, state, call);
    this.#order.start(rows, state, call);
    for (const { id } of rows) this.#traces.start(id, term, call);
    state.running.push(call);
  }

  end(entry: CallEntry): void {
    const state = [...this.#terms.values()].findLast(({ running }) =>
      running.some((call) => isSameCall(call, entry)),
    );
    if (state === undefined) {
      const rows = entry.ids.map((id) => this.#room.order.row(id));
      this.#find('strays', entry.ids, `${entry.ids.join(', ')} ended and was not running`, rows, [entry]);
      return;
    }
    state.running.splice(
      state.running.findIndex((call) => isSameCall(call, entry)),
      1,
    );
    const [head = ''] = entry.ids;
    const isForGood = entry.ids.some((id) => this.#room.options.broken?.has(id));
    if (entry.what === 'failed' && !isForGood) state.failed.set(head, entry);
    else state.failed.delete(head);
    for (const id of entry.ids) this.#traces.end(id, state.term, entry);
    if (entry.what === 'succeeded') this.#order.settle(entry, state);
  }

  /** All calls are known: what is out of order is told. */
  conclude(): void {
    this.#order.conclude();
  }

  /** All calls are known: one of them has to have succeeded. */
  lookForMiss(row: Placed): void {
    const { order, key, options } = this.#room;
    if (this.#traces.hasSucceeded(row.id) || options.leftOut?.has(row.id) === true) return;
    const { lastStart, lastEnd } = this.#traces.of(row.id) ?? {};
    const next = order.ofKey(key)[row.place + 1];
    const nextStart = next && this.#traces.of(next.id)?.firstStart;
    const what = lastStart === undefined ? 'was never called' : 'no call of it has succeeded';
    this.#find(
      'missed',
      [row.id],
      `${row.id} has committed, and ${what}`,
      [row, nextStart && next],
      [lastStart, lastEnd, nextStart],
    );
  }

  /** A call starts: whatever else of the key runs in a life that lives is one too many. */
  #lookForOverlaps(call: CallEntry, usurpation: Usurpation | null): void {
    const { lives, order } = this.#room;
    let isFound = false;
    for (const { running } of this.#terms.values()) {
      for (const other of running.splice(0)) {
        // What ended without a word is looked at no more.
        if (other.run !== call.run && lives.wasOver(other.run, call)) continue;
        running.push(other);
        const isTolerated = other.run !== call.run && lives.wasPaused(other, call);
        isFound ||= !isTolerated;
        const ids = [...other.ids, ...call.ids];
        const where = other.run === call.run ? 'in one life' : `in life ${String(other.run)}`;
        this.#find(
          isTolerated ? 'tolerated' : 'overlaps',
          ids,
          `${call.ids.join(', ')} starts while ${other.ids.join(', ')} runs ${where}` +
            (isTolerated ? ', which was paused since' : ''),
          ids.map((id) => order.row(id)),
          [other, call],
        );
      }
    }
    if (usurpation === null || isFound) return;
    const { lastOfOther } = usurpation;
    this.#find(
      'overlaps',
      call.ids,
      `life ${String(call.run)} was paused, life ${String(lastOfOther.run)} has taken over, and ${call.ids.join(', ')} starts in the former`,
      call.ids.map((id) => order.row(id)),
      [lastOfOther, call],
    );
  }

  /** An event is started again. That a failed call is tried again is no repetition. */
  #lookForRepetition(row: Placed, { term, settled }: TermOfKey, call: CallEntry): void {
    const terms = this.#traces.of(row.id)?.terms;
    if (terms === undefined) return;
    const ofThisTerm = terms.get(term);
    if (ofThisTerm !== undefined) {
      if (!settled.has(row.id)) return;
      const { success } = ofThisTerm;
      this.#find(
        'repeats',
        [row.id],
        `${row.id} starts again in the life that had settled it`,
        [row],
        [success, call],
      );
      return;
    }
    const { lives } = this.#room;
    const saved = [...terms].find(
      ([{ run }, { success }]) => success !== undefined && run !== call.run && lives.hadSaved(run, call),
    );
    if (saved !== undefined) {
      const [{ run }, { success }] = saved;
      const says = `${row.id} starts again although life ${String(run)} had settled it and stopped in order`;
      this.#find('repeats', [row.id], says, [row], [success, call]);
    } else if (!this.#duplicates.has(row.id)) {
      this.#duplicates.add(row.id);
      const [before] = [...terms.values()].slice(-1);
      const entries = [before?.start, before?.success, call];
      this.#find(
        'duplicates',
        [row.id],
        `${row.id} starts again in life ${String(call.run)}`,
        [row],
        entries,
      );
    }
  }

  #find(
    kind: keyof Judgement,
    ids: readonly string[],
    says: string,
    rows: Evidence['rows'],
    entries: Evidence['entries'],
  ): void {
    this.#room.findings.add(kind, { key: this.#room.key, ids, says: `${says}.`, rows, entries });
  }
}
