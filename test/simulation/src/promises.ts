import type { Offset, OutboxEvent, Position } from '@strandline/core';
import type { Machine } from './clock.js';
import { compare, LOG_START, type Log, type Row } from './world/log.js';

/** What happened to one row, as seen from outside. */
interface RowStory {
  hasSucceeded: boolean;
  /** The term of ownership in which a live handler has succeeded last. */
  settledIn: number;
  /** Skipped or discarded: it holds nothing up. */
  isLeftOut: boolean;
  /** In the dead-letter table. */
  letter: 'none' | 'waiting' | 'handled';
  /** A saved offset covers it, and its owner was told so. */
  isAcknowledged: boolean;
  starts: number;
}

/** A key that an operator holds, or all of them. */
interface Hold {
  readonly since: number;
  /** Processes that must know of it: they have read it, or ordered it. */
  readonly known: Set<Machine>;
}

/** Milliseconds after which an owner must have heard of what was ordered elsewhere, when nothing is in the way. */
const HEARD = 1_500;
/** The name under which all keys are held. */
export const ALL_KEYS = '*';

/** Where the handlers of one key stand. */
interface KeyStory {
  /** Place of the last event of the key that was handled, in the sequence that is going on. */
  last: number;
  /** The term of ownership that this belongs to: a new one may begin again with what was handled before. */
  term: number;
}

/** What a schedule has seen, so that nobody takes silence for a proof. */
export interface Seen {
  starts: number;
  redelivered: number;
  parked: number;
  terms: number;
}

/** Handlers that run in one process. */
type Running = Map<string, readonly Row[]>;

/**
 * Watches the world from outside (rows that commit, handlers that start and end, offsets that are saved, logs that are
 * released) and keeps the first promise that was broken, by its number in the design. It never looks into the pipeline.
 */
export class Promises {
  /** What was broken first. */
  broken: string | null = null;
  readonly seen: Seen = { starts: 0, redelivered: 0, parked: 0, terms: 0 };
  readonly #log: Log;
  readonly #tell: (line: () => string) => void;
  readonly #rows: RowStory[] = [];
  readonly #keys = new Map<string, KeyStory>();
  readonly #running = new Map<Machine, Running>();
  readonly #holds = new Map<string, Hold>();
  readonly #now: () => number;
  /** From when on nothing is in anybody's way. */
  quietSince = Infinity;
  #owner: Machine | null = null;
  #savedWatermark: Position = LOG_START;

  /** @param tell is told what happens, for people to read */
  constructor(log: Log, now: () => number, tell: (line: () => string) => void) {
    this.#log = log;
    this.#now = now;
    this.#tell = tell;
  }

  /** How often handlers of this row were called before. */
  startsOf(row: Row): number {
    return this.#of(row).starts;
  }

  /** A process has claimed the offset, and knows. */
  owns(owner: Machine, offset: Offset): void {
    this.#tell(() => `${owner.name} owns epoch ${String(offset.epoch)} from ${rangesOf(offset)}`);
    this.#owner = owner;
    this.seen.terms += 1;
    // What is ordered by now is read before the first handler is called.
    for (const { known } of this.#holds.values()) known.add(owner);
    this.#require(
      compare(offset.watermark, this.#savedWatermark) >= 0,
      `4: an owner begins at ${offset.watermark}, and ${this.#savedWatermark} was saved`,
    );
  }

  /** The offset store has it that a key is held. */
  held(key: string): void {
    this.#tell(() => `held: ${key}`);
    if (!this.#holds.has(key)) this.#holds.set(key, { since: this.#now(), known: new Set() });
  }

  /** A process was told that the key is held, and that it obeys. */
  obeys(machine: Machine, key: string): void {
    this.#holds.get(key)?.known.add(machine);
  }

  /** It is going to be released: from now on it may go on. */
  letGo(key: string): void {
    this.#tell(() => `released: ${key}`);
    this.#holds.delete(key);
  }

  isOwner(machine: Machine): boolean {
    return this.#owner === machine;
  }

  started(machine: Machine, mayNotStart: boolean, rows: readonly Row[]): void {
    const [head] = rows;
    if (head === undefined) {
      this.#require(false, '2: a turn without events');
      return;
    }
    const { key } = head.event;
    this.#tell(() => `${machine.name} starts ${namesOf(rows)}`);
    this.seen.starts += 1;
    this.#require(
      this.#owner === machine && !mayNotStart,
      `2: a handler of key ${key} starts in a process that does not own the log`,
    );
    for (const name of [key, ALL_KEYS]) this.#checkHold(machine, key, this.#holds.get(name));
    const running = this.#runningIn(machine);
    this.#require(!running.has(key), `2: two handlers of key ${key} run at once`);
    running.set(key, rows);
    this.#checkOrder(key, rows);
    for (const row of rows) this.#checkDuplicate(row);
  }

  /** How much is admitted and not settled, and how much may be. */
  holds(unsettled: number, window: number): void {
    this.#require(
      unsettled <= window,
      `6: ${String(unsettled)} events are admitted, and ${String(window)} may be`,
    );
  }

  ended(machine: Machine, rows: readonly Row[], hasSucceeded: boolean): void {
    const key = rows[0]?.event.key ?? '';
    this.#tell(() => `${machine.name} ${hasSucceeded ? 'is done with' : 'fails with'} ${namesOf(rows)}`);
    this.#runningIn(machine).delete(key);
    if (!hasSucceeded) return;
    for (const row of rows) {
      const story = this.#of(row);
      story.hasSucceeded = true;
      if (this.#owner === machine && story.letter === 'none') story.settledIn = this.seen.terms;
    }
    // Another owner has gone on meanwhile: what a former one still ends tells nothing of its sequence.
    if (this.#owner === machine) this.#keyOf(key).last = rows.at(-1)?.nth ?? NaN;
  }

  handlersIn(machine: Machine): number {
    return this.#runningIn(machine).size;
  }

  stored(event: OutboxEvent): void {
    const story = this.#of(this.#log.rowOf(event));
    this.seen.parked += 1;
    this.#tell(() => `stored: row ${event.id} of ${event.key}`);
    if (story.letter === 'none' || !story.isAcknowledged) story.letter = 'waiting';
  }

  letterHandled(event: OutboxEvent): void {
    this.#tell(() => `noted as handled: row ${event.id} of ${event.key}`);
    this.#of(this.#log.rowOf(event)).letter = 'handled';
  }

  leftOut(event: OutboxEvent): void {
    this.#tell(() => `left out: row ${event.id} of ${event.key}`);
    this.#of(this.#log.rowOf(event)).isLeftOut = true;
  }

  /** An owner sends an offset to its store. */
  sent(machine: Machine, { watermark, completed }: Offset): void {
    if (this.#owner !== machine) return;
    const covered = new Set(this.#covered(watermark, completed));
    const forgotten = this.#log.rows.find((row) => {
      const { settledIn, isAcknowledged, letter } = this.#of(row);
      const isSettled = settledIn === this.seen.terms || isAcknowledged;
      return isSettled && letter === 'none' && !covered.has(row);
    });
    this.#require(
      forgotten === undefined,
      `5: row ${String(forgotten?.n)} is settled and left out of the offset`,
    );
  }

  /** The store has an offset. */
  saved(offset: Offset): void {
    const { watermark, completed } = offset;
    this.#tell(() => `saved: ${rangesOf(offset)} in epoch ${String(offset.epoch)}`);
    this.#require(
      compare(watermark, this.#savedWatermark) >= 0,
      `4: the saved watermark went back from ${this.#savedWatermark} to ${watermark}`,
    );
    this.#savedWatermark = watermark;
    // The first range may begin below the watermark: it is told as it was read.
    let before = LOG_START;
    for (const { first, last } of completed) {
      this.#require(
        compare(before, first) < 0 && compare(first, last) <= 0,
        `4: the range ${first} to ${last} is out of order in the completed set`,
      );
      before = last;
    }
    for (const row of this.#covered(watermark, completed)) {
      const { hasSucceeded, isLeftOut, letter } = this.#of(row);
      this.#require(
        hasSucceeded || isLeftOut || letter !== 'none',
        `1: row ${String(row.n)} counts as settled and is not: it is lost`,
      );
    }
  }

  /** … and the owner knows. */
  acknowledged({ watermark, completed }: Offset): void {
    for (const row of this.#covered(watermark, completed)) this.#of(row).isAcknowledged = true;
  }

  /** The log gives up what lies at or before a position. */
  released(position: Position): void {
    this.#require(
      compare(position, this.#savedWatermark) <= 0,
      `4: the log is released up to ${position}, beyond what is saved`,
    );
  }

  /** Whether all is done that nobody holds up. */
  isDoneBut(keys: ReadonlySet<string>): boolean {
    return this.#waitingBut(keys) === undefined;
  }

  /** Every row must have been handled whose key nobody holds up. */
  nothingWaitsBut(keys: ReadonlySet<string>): void {
    const waiting = this.#waitingBut(keys);
    this.#require(
      waiting === undefined,
      `3: row ${String(waiting?.n)} waits though nothing holds up its key ${String(waiting?.event.key)}`,
    );
  }

  /** The faults are over and all work is done. */
  finished(offset: Offset | null): void {
    const lost = this.#waitingBut(new Set());
    this.#require(
      lost === undefined,
      `1: row ${String(lost?.n)} of key ${String(lost?.event.key)} never reached its handler`,
    );
    if (this.#log.items.length === 0) return;
    this.#require(
      offset?.watermark === this.#log.end && offset.completed.length === 0,
      `4: the offset stays at ${String(offset?.watermark)} (completed: ${JSON.stringify(offset?.completed)}) though the log ends at ${this.#log.end}`,
    );
  }

  #checkHold(machine: Machine, key: string, hold: Hold | undefined): void {
    if (hold === undefined) return;
    const heard = this.#now() - Math.max(hold.since, this.quietSince) > HEARD;
    this.#require(
      !hold.known.has(machine) && !heard,
      `of operators: a handler of key ${key} starts though it is held, and its process knows`,
    );
  }

  #checkOrder(key: string, rows: readonly Row[]): void {
    const story = this.#keyOf(key);
    const [head] = rows;
    if (story.term !== this.seen.terms && head !== undefined && head.nth <= story.last) {
      // A suffix of what was handled before, once in a term.
      story.last = head.nth - 1;
    }
    story.term = this.seen.terms;
    let { last } = story;
    for (const row of rows) {
      this.#require(row.event.key === key, `2: row ${String(row.n)} in a turn of key ${key}`);
      this.#require(
        row.nth <= this.#next(key, last),
        `2: row ${String(row.n)} of key ${key} starts before the one before it has settled`,
      );
      this.#require(row.nth > last, `2: row ${String(row.n)} of key ${key} starts again behind later ones`);
      last = row.nth;
    }
  }

  #checkDuplicate(row: Row): void {
    const story = this.#of(row);
    if (story.starts > 0 && story.hasSucceeded) this.seen.redelivered += 1;
    story.starts += 1;
    const isOver = story.letter === 'handled' || (story.letter === 'none' && story.hasSucceeded);
    this.#require(
      !(story.isAcknowledged && isOver),
      `5: row ${String(row.n)} is delivered again though it was saved as settled`,
    );
  }

  /** The place of the first event of a key behind `last` that was not left out. */
  #next(key: string, last: number): number {
    const rows = this.#log.ofKey(key);
    for (let nth = last + 1; nth < rows.length; nth += 1) {
      const row = rows[nth];
      if (row !== undefined && !this.#of(row).isLeftOut) return nth;
    }
    return Infinity;
  }

  #waitingBut(keys: ReadonlySet<string>): Row | undefined {
    return this.#log.rows.find((row) => {
      const { hasSucceeded, isLeftOut } = this.#of(row);
      return !keys.has(row.event.key) && !hasSucceeded && !isLeftOut;
    });
  }

  #covered(watermark: Position, completed: Offset['completed']): Row[] {
    let range = 0;
    return this.#log.rows.filter(({ event: { position } }) => {
      if (compare(position, watermark) <= 0) return true;
      for (let run = completed[range]; run !== undefined; run = completed[(range += 1)])
        if (compare(position, run.last) <= 0) return compare(run.first, position) <= 0;
      return false;
    });
  }

  #of({ n }: Row): RowStory {
    return (this.#rows[n] ??= {
      hasSucceeded: false,
      settledIn: 0,
      isLeftOut: false,
      letter: 'none',
      isAcknowledged: false,
      starts: 0,
    });
  }

  #keyOf(key: string): KeyStory {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const story = { last: -1, term: 0 };
    this.#keys.set(key, story);
    return story;
  }

  #runningIn(machine: Machine): Running {
    const known = this.#running.get(machine);
    if (known !== undefined) return known;
    const running: Running = new Map();
    this.#running.set(machine, running);
    return running;
  }

  #require(holds: boolean, problem: string): void {
    if (!holds) this.broken ??= `promise ${problem}`;
  }
}

function namesOf(rows: readonly Row[]): string {
  return rows.map(({ n, event }) => `row ${String(n)} of ${event.key}`).join(', ');
}

function rangesOf({ watermark, completed }: Offset): string {
  return [watermark, ...completed.map(({ first, last }) => `${first}..${last}`)].join(' ');
}
