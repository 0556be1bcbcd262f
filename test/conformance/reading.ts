import type { OutboxEvent, Position, SourceBatch } from '@strandline/core';
import { waitUntil } from '@strandline/test-kit';
import { expect } from 'vitest';

interface Readable {
  read(): AsyncIterable<SourceBatch>;
}

/** Reads a stream or a reader of a source as a pipeline does, and keeps what comes. */
export class Reading<Stream extends Readable> {
  readonly batches: SourceBatch[] = [];
  /** Resolves when reading has ended; rejects with what ended it. */
  readonly over: Promise<void>;
  #reading = true;

  constructor(readonly stream: Stream) {
    this.over = this.#read();
    this.over.catch(() => undefined);
  }

  get events(): OutboxEvent[] {
    return this.batches.flatMap(({ events }) => events);
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  get passed(): Position[] {
    return this.batches.flatMap(({ passed }) => passed ?? []);
  }

  /** Every position that came, in the order in which it came. */
  get positions(): Position[] {
    return this.batches.flatMap(({ events, passed }) => [
      ...events.map(({ position }) => position),
      ...(passed === null ? [] : [passed]),
    ]);
  }

  async untilEvents(count: number): Promise<OutboxEvent[]> {
    await this.until(`${String(count)} events have come`, () => this.events.length >= count);
    return this.events;
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    await waitUntil(what, () => condition() || !this.#reading, { deadlineMs: 20_000 });
    if (!condition()) await this.over.then(() => expect.fail(`reading ended before ${what}`));
  }

  async #read(): Promise<void> {
    try {
      for await (const batch of this.stream.read()) this.batches.push(batch);
    } finally {
      this.#reading = false;
    }
  }
}
