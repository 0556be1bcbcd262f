import type { Dispatcher } from 'undici';
import type { Answer } from './outcome.js';

/** Bytes of an answer that are read, so that its connection can be used again; what says more loses it. */
const MOST_READ = 64 * 1024;
/** Milliseconds that the rest of an answer gets after its status. */
const LONGEST_REST = 1_000;

/** No answer within the time-out. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

export interface Exchanged {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Milliseconds from the moment at which a connection is there and the request begins. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Posts one request and resolves with its answer. Rejects with what undici found, with `NoAnswerError`, or with the
 * signal's reason, and not before the request has ended: it was taken from the queue, or its connection is closed.
 */
export function exchange(pool: Dispatcher, request: Exchanged): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(request, resolve, reject);
    if (request.signal.aborted) handler.giveUp(request.signal.reason);
    else
      pool.dispatch(
        {
          method: 'POST',
          path: request.path,
          headers: request.headers as Record<string, string>,
          body: request.body,
        },
        handler,
      );
  });
}

/**
 * What undici tells of one request.
 *
 *     queued ──onRequestStart──► sent ──onResponseStart──► answered ──┐
 *        └────────┴── an error, the time-out, the signal ──┴──────────┴──► ended
 *
 * Once there is an answer it counts, whatever becomes of the rest.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: Exchanged;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #onAbort: () => void;
  #state: 'queued' | 'sent' | 'answered' | 'ended' = 'queued';
  #controller: Dispatcher.DispatchController | null = null;
  #timer: NodeJS.Timeout | undefined;
  #answer: Answer | null = null;
  #read = 0;

  constructor(request: Exchanged, resolve: (answer: Answer) => void, reject: (reason: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onAbort = () => {
      this.giveUp(request.signal.reason);
    };
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#state === 'ended') {
      // It was given up while it waited for a connection: nothing of it is sent, and the connection is kept.
      throw new Error('given up');
    }
    this.#state = 'sent';
    this.#controller = controller;
    const { timeout } = this.#request;
    this.#timer = setTimeout(() => {
      this.giveUp(new NoAnswerError());
    }, timeout);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return; // such as 103; the answer follows
    const retryAfter = [headers['retry-after'] ?? null].flat()[0] ?? null;
    this.#answer = { status, retryAfter };
    this.#state = 'answered';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.giveUp(new NoAnswerError());
    }, LONGEST_REST);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#read += chunk.length;
    if (this.#read > MOST_READ) controller.abort(new Error('more than is read'));
  }

  /**
   * undici takes the connection for free in the next turn of the event loop, and who posts before that opens another
   * one: so the end is told after that.
   */
  onResponseEnd(): void {
    queueMicrotask(() => {
      setImmediate(() => {
        this.#end(null);
      });
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  /** Ends the request. When it is on its way its connection is closed. */
  giveUp(reason: unknown): void {
    // undici reports back by onResponseError, before it closes the connection in the same turn.
    this.#controller?.abort(reason as Error);
    this.#end(reason);
  }

  #end(failure: unknown): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    if (this.#answer === null) this.#reject(failure);
    else this.#resolve(this.#answer);
  }
}
