import type { LogReader, Position } from '@strandline/core';
import { LogPart } from './log-part.js';
import type { EventFilter } from './options.js';
import type { ReplayRange } from './range.js';
import type { Tally } from './tally.js';
import type { ReplayWork } from './work.js';

/** A dry run: counts what would be handled. */
export class Counting implements ReplayWork {
  readonly retries = 0;
  readonly insideHandler = false;
  readonly #reader: LogReader;
  readonly #range: ReplayRange;
  readonly #part: LogPart;
  readonly #tally: Tally;
  #isStopped = false;

  constructor(reader: LogReader, range: ReplayRange, filter: EventFilter, tally: Tally) {
    this.#reader = reader;
    this.#range = range;
    this.#part = new LogPart(reader, filter, range);
    this.#tally = tally;
  }

  async run(): Promise<void> {
    try {
      if (this.isDone) return;
      for await (const { events } of this.#part.read()) for (const event of events) this.#tally.add(event);
    } catch (error) {
      if (!this.#isStopped) throw error;
    } finally {
      await this.#reader.close();
    }
  }

  stop(): void {
    this.#isStopped = true;
    void this.#reader.close();
  }

  get isDone(): boolean {
    return this.#part.isOver || this.#reader.compare(this.position, this.#range.until) >= 0;
  }

  get position(): Position {
    return this.#part.position;
  }

  get skipped(): number {
    return this.#part.skipped;
  }
}
