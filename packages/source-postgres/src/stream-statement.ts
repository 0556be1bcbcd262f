import type pg from 'pg';

/** pg's connection, as far as a statement needs it. */
interface SimpleQuery {
  query(text: string): void;
}

/**
 * The statement whose answer is a stream: pg hands each CopyData message straight to it, as to a COPY. A listener of its
 * own beside the client's would have Node copy the list of listeners for each message.
 */
export class StreamStatement implements pg.Submittable {
  /** Settles when the stream is over: resolves when the server has ended it, rejects with what broke it. */
  readonly over: Promise<void>;
  readonly #text: string;
  readonly #onData: (chunk: Buffer) => void;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  /** @param onData must not throw, nor keep the buffer: it is the parser's own */
  constructor(text: string, onData: (chunk: Buffer) => void) {
    this.#text = text;
    this.#onData = onData;
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: unknown): void {
    (connection as SimpleQuery).query(this.#text);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#onData(chunk);
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve();
  }

  /** The others that a client passes on say nothing that matters here: ReadyForQuery follows. */
  handleCommandComplete(): void {
    // Nothing to do.
  }

  handleRowDescription(): void {
    // Nothing to do.
  }

  handleDataRow(): void {
    // Nothing to do.
  }
}
