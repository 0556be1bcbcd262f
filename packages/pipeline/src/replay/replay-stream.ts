import type {
  LogReader,
  Offset,
  Position,
  SourceBatch,
  SourceIdentity,
  SourceStatus,
  SourceStream,
} from '@strandline/core';
import { LogPart } from './log-part.js';
import type { EventFilter } from './options.js';
import { withRange, type ReplayRange } from './range.js';

export interface ReplayStreamOptions {
  readonly reader: LogReader;
  /** The replay's own, as it was claimed. */
  readonly offset: Offset;
  readonly range: ReplayRange;
  readonly filter: EventFilter;
}

/**
 * A part of a log as a run wants it: owned by the replay's offset, and by nobody else. It ends once all of the part is
 * settled and saved, so that the run has nothing left to drain, however long handlers and retries take.
 */
export class ReplayStream implements SourceStream {
  readonly offset: Offset;
  readonly identity: SourceIdentity;
  readonly part: LogPart;
  /** Only the epoch tells of a loss here. */
  readonly lost: AbortSignal = new AbortController().signal;
  readonly #reader: LogReader;
  readonly #range: ReplayRange;
  #saved: Position;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor({ reader, offset, range, filter }: ReplayStreamOptions) {
    this.offset = offset;
    this.identity = withRange(reader.identity, range);
    this.part = new LogPart(reader, filter, range);
    this.#reader = reader;
    this.#range = range;
    this.#saved = offset.watermark;
  }

  /** All of the part is settled and saved. */
  get isDone(): boolean {
    const end = this.part.isOver ? this.part.position : this.#range.until;
    return this.compare(this.#saved, end) >= 0;
  }

  async *read(): AsyncGenerator<SourceBatch> {
    if (this.isDone) return;
    yield* this.part.read();
    while (this.#waits()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** All was handed over, and is not settled and saved yet. */
  #waits(): boolean {
    return this.part.isOver && !this.isDone && !this.#isClosed;
  }

  compare(a: Position, b: Position): number {
    return this.#reader.compare(a, b);
  }

  confirm(position: Position): void {
    this.#saved = position;
    this.#wake();
  }

  status(): SourceStatus {
    return { state: this.#isClosed ? 'closed' : 'streaming', lagBytes: null, reconnects: 0 };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#reader.close();
  }
}
