import type { LogReader, OutboxEvent, Position, SourceBatch } from '@strandline/core';
import type { EventFilter } from './options.js';
import type { ReplayRange } from './range.js';

/** Where reading ends. */
export type LogEnd = Pick<ReplayRange, 'until' | 'before'>;

/** The part of a log that is meant: what fits a filter, up to an end. What doesn't fit counts as passed. */
export class LogPart {
  /** Events that did not fit. */
  skipped = 0;
  readonly #reader: LogReader;
  readonly #filter: EventFilter;
  readonly #end: LogEnd | null;
  readonly #takesAll: boolean;
  #position: Position;
  #isOver = false;

  constructor(reader: LogReader, filter: EventFilter, end: LogEnd | null) {
    this.#reader = reader;
    this.#filter = filter;
    this.#end = end;
    this.#takesAll = filter.key === undefined && filter.type === undefined;
    this.#position = reader.start;
  }

  /** How far the log was read. */
  get position(): Position {
    return this.#position;
  }

  /** All of it was handed over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Batches of what is meant; the last one passes the last position that was read. Once. */
  async *read(): AsyncGenerator<SourceBatch> {
    for await (const batch of this.#reader.read()) {
      yield this.#take(batch);
      if (this.#isOver) return;
    }
  }

  #take(batch: SourceBatch): SourceBatch {
    const reach = this.#reachOf(batch);
    const events: OutboxEvent[] = [];
    for (const event of batch.events) {
      if (this.#isBeyond(event, reach)) {
        this.#isOver = true;
        return { events, passed: this.#position };
      }
      this.#position = event.position;
      if (this.#fits(event)) events.push(event);
      else this.skipped += 1;
    }
    if (batch.passed !== null) this.#position = batch.passed;
    if (reach === 'end' && this.#end !== null)
      this.#isOver = this.#reader.compare(this.#position, this.#end.until) >= 0;
    return { events, passed: this.#isOver ? this.#position : batch.passed };
  }

  /** Whether the batch may reach the end: its last position tells that for all of its events. */
  #reachOf({ events, passed }: SourceBatch): 'inside' | 'end' {
    const last = passed ?? events.at(-1)?.position;
    if (this.#end === null || last === undefined) return 'inside';
    return this.#reader.compare(last, this.#end.until) < 0 ? 'inside' : 'end';
  }

  #isBeyond({ position, transaction }: OutboxEvent, reach: 'inside' | 'end'): boolean {
    if (this.#end === null) return false;
    const { until, before } = this.#end;
    if (before !== null && transaction.commitTime >= before) return true;
    return reach === 'end' && this.#reader.compare(position, until) > 0;
  }

  #fits({ key, type }: OutboxEvent): boolean {
    if (this.#takesAll) return true;
    const filter = this.#filter;
    return (filter.key ?? key) === key && (filter.type ?? type) === type;
  }
}
