import { Executor, PermanentError, type OutboxEvent, type RetryPolicy, type Strand } from '@strandline/core';
import { AlreadySettled } from '../../packages/pipeline/src/already-settled.js';
import { compare, positionOf, type Log, type Row } from './log.js';
import type { Promises, Snapshot, Standing } from './promises.js';
import type { Random } from './random.js';

/** What else an offset says; nothing here depends on it. */
const OWNER = { identity: {}, epoch: 1, revision: 0, savedAt: '2026-01-01T00:00:00.000Z' };

/** How one process is configured. */
export interface ProcessOptions {
  readonly concurrency: number;
  readonly batch: number;
  readonly retry: RetryPolicy;
  /** The source is paused at so many unsettled events. */
  readonly window: number;
}

/**
 * One life of a pipeline: what its shell does around the executor, one step at a time, so that a crash can
 * fall between any two steps. It starts from what the last one saved and knows nothing else of it.
 */
export class Process {
  readonly executor: Executor;
  readonly #log: Log;
  readonly #promises: Promises;
  readonly #window: number;
  readonly #settledBefore: AlreadySettled;
  #next: number;
  /** Strands whose handler runs. */
  readonly running: Strand[] = [];
  /** The one commit that is under way. */
  pending: Snapshot | null = null;

  constructor(log: Log, promises: Promises, saved: Standing, options: ProcessOptions, random: Random) {
    this.#log = log;
    this.#promises = promises;
    this.#window = options.window;
    this.#settledBefore = new AlreadySettled({ ...saved, ...OWNER }, compare);
    this.#next = log.seek(saved.watermark, random);
    const { concurrency, batch, retry } = options;
    this.executor = new Executor({
      start: saved.watermark,
      concurrency,
      batch,
      retry,
      random: () => random.unit(),
    });
  }

  get isPaused(): boolean {
    return this.executor.unsettled >= this.#window;
  }

  /** What has been read of the log. */
  get rowsRead(): Row[] {
    return this.#log.items.slice(0, this.#next).flatMap((item) => ('row' in item ? [item.row] : []));
  }

  /** Reads the next item of the log; false at its end, or when the window is full. */
  read(): boolean {
    const item = this.#log.items[this.#next];
    if (item === undefined || this.isPaused) return false;
    this.#next += 1;
    const position = positionOf(item);
    const known = this.#settledBefore.lookUp(position);
    if (known === 'behind') return true;
    if ('row' in item && known === 'new') {
      this.#promises.admitted(item.row);
      this.executor.admit(item.row.event);
    } else {
      this.executor.pass(position);
    }
    return true;
  }

  /** Calls the next handler; false when none may run. */
  start(): boolean {
    const strand = this.executor.take();
    if (strand === null) return false;
    this.running.push(strand);
    this.#promises.started(strand.inFlightEvents().map((event) => this.#rowOf(event)));
    return true;
  }

  succeed(strand: Strand): void {
    this.running.splice(this.running.indexOf(strand), 1);
    this.#promises.settled(strand.key);
    this.executor.succeed(strand);
  }

  fail(strand: Strand, permanently: boolean, now: number): void {
    this.running.splice(this.running.indexOf(strand), 1);
    this.#promises.failed(strand.key);
    const error = permanently ? new PermanentError('never') : new Error('not now');
    if (this.executor.fail(strand, error, now).outcome === 'exhausted') this.executor.halt(strand);
  }

  /** Takes the standing and sends it to the store. */
  beginSave(): void {
    const { watermark } = this.executor;
    const completed = this.#settledBefore.joinedTo(this.executor.completed());
    this.pending = this.#promises.snapshot({ watermark, completed });
  }

  #rowOf(event: OutboxEvent): Row {
    const row = this.#log.rows[Number(event.id)];
    if (row === undefined) throw new RangeError(`no row ${event.id}`);
    return row;
  }
}
