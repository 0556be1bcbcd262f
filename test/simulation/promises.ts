import type { Offset, Position } from '@strandline/core';
import { compare, LOG_START, type Log, type Row } from './log.js';

/** A promise was broken. The message starts with its number in the design. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** The part of an offset that says what is settled. */
export type Standing = Pick<Offset, 'watermark' | 'completed'>;

/** A standing on its way to the store, with the rows that were really settled when it was taken. */
export interface Snapshot extends Standing {
  readonly settled: readonly number[];
}

/** What happened to one key since the process started. */
interface KeyHistory {
  running: readonly Row[] | null;
  /** The turn that failed last, if the key has not succeeded since. */
  failed: readonly Row[] | null;
  /** The row whose turn it is, once the key has settled one. */
  next: number | null;
  /** The last row that was admitted. */
  lastAdmitted: number;
  /** While the key waits for a turn that may start at any time: the keys that have had one since. */
  overtakenBy: Set<string> | null;
}

/**
 * Watches the world from outside (rows started, settled, saved, released, processes crashed) and throws when
 * a promise is broken. It knows rows by number and never looks into the executor.
 */
export class Promises {
  readonly #log: Log;
  readonly #concurrency: number;
  /** Handled to the end, in this process or in one before. */
  readonly #settledEver = new Set<number>();
  /** Handled to the end, and the store knew. */
  readonly #durable = new Set<number>();
  /** Handled to the end in this process. */
  #settledNow = new Set<number>();
  #keys = new Map<string, KeyHistory>();
  #watermark: Position = LOG_START;
  #savedWatermark: Position = LOG_START;

  constructor(log: Log, concurrency: number) {
    this.#log = log;
    this.#concurrency = concurrency;
  }

  /** A row that has to be handled is on its strand. */
  admitted({ nth, event }: Row): void {
    const history = this.#historyOf(event.key);
    history.lastAdmitted = nth;
    if (history.running === null && history.failed === null) history.overtakenBy ??= new Set();
  }

  started(rows: readonly Row[]): void {
    const [head] = rows;
    if (head === undefined) throw new BrokenPromise('2: a turn without events');
    const { key } = head.event;
    const history = this.#historyOf(key);
    this.#require(history.running === null, `2: two handlers of key ${key} run at once`);
    rows.forEach((row, i) => {
      const consecutive = row.event.key === key && row.nth === head.nth + i;
      this.#require(
        consecutive,
        `2: row ${String(row.n)} does not follow row ${String(head.n)} of key ${key} in its turn`,
      );
      this.#require(
        !this.#durable.has(row.n),
        `5: row ${String(row.n)} is delivered again though it was saved as settled`,
      );
    });
    if (history.failed !== null) {
      const same = rows.length === history.failed.length && head === history.failed[0];
      this.#require(same, `2: the turn after a failure of key ${key} is not the failed one`);
    } else if (history.next !== null) {
      this.#require(
        head.nth === history.next,
        `2: row ${String(head.n)} swaps or repeats its place in key ${key}`,
      );
    }
    const previous = this.#log.previousOfKey(head);
    this.#require(
      previous === undefined || this.#settledEver.has(previous.n),
      `2: row ${String(head.n)} of key ${key} starts before row ${String(previous?.n ?? '')} has settled`,
    );
    history.running = rows;
    history.overtakenBy = null;
    this.#requireTurns(key);
  }

  settled(key: string): void {
    const history = this.#historyOf(key);
    for (const row of history.running ?? []) {
      this.#settledEver.add(row.n);
      this.#settledNow.add(row.n);
      history.next = row.nth + 1;
    }
    history.running = null;
    history.failed = null;
    if (history.next !== null && history.next <= history.lastAdmitted) history.overtakenBy = new Set();
  }

  failed(key: string): void {
    const history = this.#historyOf(key);
    history.failed = history.running;
    history.running = null;
  }

  /** A process takes its standing in order to save it. */
  snapshot(standing: Standing): Snapshot {
    const forward = compare(standing.watermark, this.#watermark) >= 0;
    this.#require(forward, `4: the watermark went back from ${this.#watermark} to ${standing.watermark}`);
    this.#watermark = standing.watermark;
    this.#requireSorted(standing);
    const settled: number[] = [];
    const covered = coverage(standing);
    for (const { n, event } of this.#log.rows) {
      const isCovered = covered(event.position);
      this.#require(
        !isCovered || this.#settledEver.has(n),
        `1: row ${String(n)} counts as settled and is not: it is lost`,
      );
      if (!this.#durable.has(n) && !this.#settledNow.has(n)) continue;
      this.#require(isCovered, `5: row ${String(n)} is settled and left out of the offset`);
      settled.push(n);
    }
    return { ...standing, settled };
  }

  /** The store has a snapshot, durably. */
  saved(snapshot: Snapshot): void {
    const forward = compare(snapshot.watermark, this.#savedWatermark) >= 0;
    this.#require(forward, `4: the saved watermark went back to ${snapshot.watermark}`);
    this.#savedWatermark = snapshot.watermark;
    for (const n of snapshot.settled) this.#durable.add(n);
  }

  /** The log gives up what lies at or before a position. */
  released(position: Position): void {
    const behind = compare(position, this.#savedWatermark) <= 0;
    this.#require(behind, `4: the log is released up to ${position}, beyond what is saved`);
    const lost = this.#log.rows.find(({ n, event }) => {
      return !this.#settledEver.has(n) && compare(event.position, position) <= 0;
    });
    this.#require(
      lost === undefined,
      `4: the log is released up to ${position}, over row ${String(lost?.n ?? '')}`,
    );
  }

  /** The process is gone, with all that it had in memory. */
  crashed(): void {
    this.#keys = new Map();
    this.#settledNow = new Set();
    this.#watermark = this.#savedWatermark;
  }

  /** Every row so far whose key is not named must have been handled: nothing held it up. */
  nothingWaitsBut(keys: ReadonlySet<string>, rows: readonly Row[]): void {
    const waiting = rows.find(({ n, event }) => !keys.has(event.key) && !this.#settledEver.has(n));
    this.#require(
      waiting === undefined,
      `3: row ${String(waiting?.n ?? '')} waits though nothing of its key does`,
    );
  }

  /** The faults are over and all work is done. */
  finished(standing: Standing): void {
    const lost = this.#log.rows.find(({ n }) => !this.#settledEver.has(n));
    this.#require(lost === undefined, `1: row ${String(lost?.n ?? '')} never reached its handler`);
    const atEnd = standing.watermark === this.#log.end && standing.completed.length === 0;
    this.#require(
      atEnd,
      `4: the offset stays at ${standing.watermark} though the log ends at ${this.#log.end}`,
    );
  }

  #historyOf(key: string): KeyHistory {
    let history = this.#keys.get(key);
    if (history === undefined) {
      history = { running: null, failed: null, next: null, lastAdmitted: -1, overtakenBy: null };
      this.#keys.set(key, history);
    }
    return history;
  }

  /** A key has got a turn: no other one waits for its first while this had two, and not too many run. */
  #requireTurns(key: string): void {
    let running = 0;
    for (const [other, { running: turn, overtakenBy }] of this.#keys) {
      if (turn !== null) running += 1;
      this.#require(
        overtakenBy?.has(key) !== true,
        `3: key ${key} has two turns while key ${other} waits for one`,
      );
      overtakenBy?.add(key);
    }
    this.#require(
      running <= this.#concurrency,
      `3: ${String(running)} handlers run, ${String(this.#concurrency)} may`,
    );
  }

  /** Ranges come in the order of the log, and do not overlap. */
  #requireSorted({ completed }: Standing): void {
    let before: Position = LOG_START;
    for (const { first, last } of completed) {
      const sorted = compare(first, last) <= 0 && compare(before, first) < 0;
      this.#require(sorted, `4: the range ${first} to ${last} is out of order in the completed set`);
      before = last;
    }
  }

  #require(holds: boolean, problem: string): void {
    if (!holds) throw new BrokenPromise(`promise ${problem}`);
  }
}

/** Tells for positions in the order of the log whether a standing covers them. */
function coverage({ watermark, completed }: Standing): (position: Position) => boolean {
  let next = 0;
  return (position) => {
    if (compare(position, watermark) <= 0) return true;
    for (let range = completed[next]; range !== undefined; range = completed[(next += 1)]) {
      if (compare(position, range.last) <= 0) return compare(range.first, position) <= 0;
    }
    return false;
  };
}
