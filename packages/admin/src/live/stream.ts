import type { Logger } from '@strandline/core';
import type { Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';

/** Milliseconds between looks. */
const EVERY = 1_000;
/** Readers at a time: each costs a look's text a second. */
const READERS = 50;
/** Milliseconds for which a reader may not take what it was sent: then it is gone, or as good as. */
const GIVEN_UP_AFTER = 30_000;

/**
 * A look at all pipelines once a second, as server-sent events: `look` with JSON. The text of a look is made once for all who
 * listen, and not at all when nobody does.
 */
export class LiveStream {
  readonly #look: () => unknown;
  readonly #log: Logger;
  readonly #givenUpAfter: number;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;

  constructor(look: () => unknown, log: Logger, givenUpAfter = GIVEN_UP_AFTER) {
    this.#look = look;
    this.#log = log;
    this.#givenUpAfter = givenUpAfter;
  }

  /** How many listen. */
  get readers(): number {
    return this.#readers.size;
  }

  answer(context: Context): Response | Promise<Response> {
    if (this.#readers.size >= READERS) return context.json(FULL, 503);
    // Whoever asks for the head alone reads nothing, and never leaves.
    if (context.req.method === 'HEAD')
      return context.body(null, 200, { 'content-type': 'text/event-stream' });
    const first = JSON.stringify(this.#look());
    return streamSSE(context, async (stream) => {
      const reader = new Reader(stream, first);
      stream.onAbort(() => {
        this.#remove(reader);
        reader.leave();
      });
      this.#add(reader);
      await reader.follow();
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#readers.clear();
  }

  #add(reader: Reader): void {
    this.#readers.add(reader);
    this.#timer ??= setInterval(() => {
      this.#tell();
    }, EVERY).unref();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** A look that fails is missing: what looks on must not end what works. */
  #tell(): void {
    const now = performance.now();
    for (const one of this.#readers) if (one.hasNotTakenFor(now) >= this.#givenUpAfter) one.cutOff();
    try {
      const text = JSON.stringify(this.#look());
      for (const one of this.#readers) one.offer(text);
    } catch (error) {
      this.#log.error({ err: error }, 'a look at the pipelines has failed');
    }
  }
}

/** One who follows. Whoever reads slowly gets the newest look, and never a queue of old ones. */
class Reader {
  readonly #stream: SSEStreamingApi;
  #latest: string | null;
  #wake: () => void = () => undefined;
  /** Since when what was written is not taken, on the clock of `performance.now()`; NaN while nothing is. */
  #writingSince = NaN;

  constructor(stream: SSEStreamingApi, first: string) {
    this.#stream = stream;
    this.#latest = first;
  }

  offer(text: string): void {
    this.#latest = text;
    this.#wake();
  }

  leave(): void {
    this.#wake();
  }

  hasNotTakenFor(now: number): number {
    return Number.isNaN(this.#writingSince) ? 0 : now - this.#writingSince;
  }

  cutOff(): void {
    this.#stream.abort();
  }

  /** Resolves when the reader has left, or was cut off. */
  async follow(): Promise<void> {
    const stream = this.#stream;
    while (!stream.aborted && !stream.closed) {
      const data = this.#latest;
      this.#latest = null;
      if (data === null) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#writingSince = performance.now();
      await stream.writeSSE({ event: 'look', data });
      this.#writingSince = NaN;
    }
  }
}

const FULL = {
  code: 'ADMIN_BUSY',
  problem: `${String(READERS)} readers follow this process already.`,
  remedy: 'Close a console, or ask /api/v1/pipelines now and then.',
};
