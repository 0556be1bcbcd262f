import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';

/** Milliseconds between looks, and the most that a reader who does not read may owe. */
const EVERY = 1_000;
/** Readers at a time: each costs a look's text a second. */
const READERS = 50;

/**
 * A look at all pipelines once a second, as server-sent events: `look` with JSON. The text of a look is made once for all who
 * listen, and not at all when nobody does.
 */
export class LiveStream {
  readonly #look: () => unknown;
  readonly #readers = new Set<(text: string) => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(look: () => unknown) {
    this.#look = look;
  }

  /** How many listen. */
  get readers(): number {
    return this.#readers.size;
  }

  answer(context: Context): Response | Promise<Response> {
    if (this.#readers.size >= READERS) return context.json(FULL, 503);
    return streamSSE(context, async (stream) => {
      let latest: string | null = JSON.stringify(this.#look());
      let wake: () => void = () => undefined;
      // Whoever reads slowly gets the newest look, and never a queue of old ones.
      const reader = (text: string): void => {
        latest = text;
        wake();
      };
      stream.onAbort(() => {
        this.#remove(reader);
        wake();
      });
      this.#add(reader);
      while (!stream.aborted && !stream.closed) {
        const data: string | null = latest;
        latest = null;
        if (data !== null) await stream.writeSSE({ event: 'look', data });
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#readers.clear();
  }

  #add(reader: (text: string) => void): void {
    this.#readers.add(reader);
    this.#timer ??= setInterval(() => {
      const text = JSON.stringify(this.#look());
      for (const one of this.#readers) one(text);
    }, EVERY).unref();
  }

  #remove(reader: (text: string) => void): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const FULL = {
  code: 'ADMIN_BUSY',
  problem: `${String(READERS)} readers follow this process already.`,
  remedy: 'Close a console, or ask /api/v1/pipelines now and then.',
};
