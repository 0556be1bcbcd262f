import { invariant } from './errors.js';
import type { Position, PositionRange } from './position.js';

/** Has a position, which can be dear to make: it is asked for only where it is told. */
export interface Positioned {
  readonly position: Position;
}

/** A run of settled positions between two unsettled ones. */
interface Run {
  first: Positioned;
  last: Positioned;
}

/** The place of one unsettled event in arrival order. Embedded in the executor's entry: no object of its own. */
export abstract class Mark implements Positioned {
  /** The next older and next newer unsettled mark. */
  older: Mark | null = null;
  newer: Mark | null = null;
  /** What is settled directly before this mark, back to the next older one. */
  runBefore: Run | null = null;
  settled = false;

  abstract readonly position: Position;

  /** What is kept of the mark once it is settled. */
  get kept(): Positioned {
    return this;
  }
}

/**
 * The position up to which everything is settled, and the settled runs above it.
 *
 * The unsettled marks form a list in arrival order; between two of them lies at most one run of settled
 * positions. Settling a mark joins the run before it, the mark itself and the run after it into one; when the
 * oldest mark settles, the joined run moves the watermark. So each step is O(1), nothing is sorted, and the
 * memory follows what is unsettled, not what was settled above a slow event in the hours since.
 *
 * Invariant: watermark < oldest < runBefore(next) < next < … < newest < tail, in arrival order. Nothing is
 * settled directly before the oldest mark that the watermark has not taken in.
 */
export class Watermark {
  /** What has the watermark's position. It mostly moves on before anyone asks for it. */
  #reached: Positioned;
  #oldest: Mark | null = null;
  #newest: Mark | null = null;
  /** What is settled after the newest unsettled mark. */
  #tail: Run | null = null;
  #unsettled = 0;

  constructor(start: Position) {
    this.#reached = { position: start };
  }

  /** Everything up to here, inclusive, is settled. */
  get position(): Position {
    return this.#reached.position;
  }

  /** The oldest mark that waits to be settled. */
  get oldest(): Mark | null {
    return this.#oldest;
  }

  /** How many marks wait to be settled. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** Adds the next position in arrival order, not settled yet. */
  append(mark: Mark): void {
    invariant(!mark.settled && !this.#holds(mark), () => `position ${mark.position} was appended twice`);
    mark.runBefore = this.#tail;
    mark.older = this.#newest;
    if (this.#newest === null) this.#oldest = mark;
    else this.#newest.newer = mark;
    this.#newest = mark;
    this.#tail = null;
    this.#unsettled += 1;
  }

  /**
   * Adds the next position in arrival order that needs no work: the end of a transaction, an idle stretch. The
   * position of the newest unsettled event itself adds nothing: a source may well say "handed over up to my
   * last event", and that must not settle the event.
   */
  pass(position: Position): void {
    if (this.#newest === null) this.#reached = { position };
    else if (position === this.#newest.position) return;
    else if (this.#tail === null) this.#tail = { first: { position }, last: { position } };
    else this.#tail.last = { position };
  }

  /** Settles one mark. */
  settle(mark: Mark): void {
    invariant(!mark.settled, () => `position ${mark.position} was settled twice`);
    invariant(this.#holds(mark), () => `position ${mark.position} was settled before it was appended`);
    mark.settled = true;
    this.#unsettled -= 1;

    const { older, newer } = mark;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;

    const after = newer === null ? this.#tail : newer.runBefore;
    let joined: Run | null = null;
    if (older === null) this.#reached = after === null ? mark.kept : after.last;
    else joined = joinedRun(mark, after);
    if (newer === null) this.#tail = joined;
    else newer.runBefore = joined;
    mark.older = null;
    mark.newer = null;
    mark.runBefore = null;
  }

  /** The settled runs above the watermark, in arrival order: at most one behind each unsettled mark. */
  completed(): PositionRange[] {
    const runs: PositionRange[] = [];
    for (let mark = this.#oldest; mark !== null; mark = mark.newer) {
      if (mark.runBefore !== null) runs.push(rangeOf(mark.runBefore));
    }
    if (this.#tail !== null) runs.push(rangeOf(this.#tail));
    return runs;
  }

  /** Whether the mark is in the list: every mark but the oldest has an older one. */
  #holds(mark: Mark): boolean {
    return mark.older !== null || mark === this.#oldest;
  }
}

/** The run before the mark, the mark and the run after it as one. */
function joinedRun({ runBefore, kept }: Mark, after: Run | null): Run {
  if (runBefore !== null) {
    runBefore.last = after?.last ?? kept;
    return runBefore;
  }
  if (after === null) return { first: kept, last: kept };
  after.first = kept;
  return after;
}

function rangeOf({ first, last }: Run): PositionRange {
  return { first: first.position, last: last.position };
}
