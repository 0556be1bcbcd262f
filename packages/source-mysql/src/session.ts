import type { Connection, QueryOptions } from 'mysql2/promise';
import type { Socket } from 'node:net';

/**
 * A session for queries. Each answer has a deadline: a connection can die without a word at any time, and the server
 * that a proxy accepts connections for may never have been there.
 */
export class Session {
  readonly #connection: Connection;
  /** Rejects what is waited for: the library forgets it when the connection is destroyed. */
  readonly #waiting = new Set<(error: Error) => void>();

  /** @param answerTimeout milliseconds until an answer must be there, unless a query says otherwise */
  constructor(
    connection: Connection,
    readonly answerTimeout: number,
  ) {
    this.#connection = connection;
    // A connection that breaks while nobody awaits it emits an error; its users see it at their next query.
    connection.on('error', () => undefined);
  }

  /** Resolves when the server has let it in; rejects with the server's error, or that of the connection. */
  opened(): Promise<void> {
    return this.#unlessDestroyed(
      new Promise((resolve, reject) => {
        this.#connection.once('connect', () => {
          resolve();
        });
        this.#connection.once('error', reject);
      }),
    );
  }

  /** The server's id of it. */
  get id(): number {
    return this.#connection.threadId;
  }

  /** Bytes that have come from the server. */
  get received(): number {
    return this.#stream.bytesRead;
  }

  /** Called once the connection has ended without `destroy`, whatever ended it. */
  onEnd(listener: (error: unknown) => void): void {
    this.#connection.on('error', listener);
    this.#connection.on('end', () => {
      listener(new Error('Connection lost: the server ended it'));
    });
  }

  /** A statement without rows. */
  async run(sql: string, deadline?: number): Promise<void> {
    await this.query({ sql }, deadline);
  }

  /**
   * Rows of a query, `deadline` in milliseconds (Infinity for none). Rejects with the server's error; when the answer is overdue, with a `Connection lost`, and the
   * session has ended then: nobody knows whether the server still works on it.
   */
  async query(options: QueryOptions, deadline = this.answerTimeout): Promise<unknown[]> {
    // Not the library's: its timer outlives a connection that was destroyed, and holds the process until it fires.
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_, reject) => {
      if (deadline === Infinity) return;
      timer = setTimeout(() => {
        reject(new Error(`Connection lost: no answer within ${String(deadline)} ms`));
        this.destroy();
      }, deadline);
    });
    try {
      const answer = this.#unlessDestroyed(this.#connection.query(options));
      const [rows] = await Promise.race([answer, overdue]);
      return rows as unknown[];
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Whoever waits for an answer gets a `Connection closed`. The library only says goodbye, and on a dead network the socket
   * would wait for an answer to that, and the process with it.
   */
  destroy(): void {
    this.#connection.destroy();
    this.#stream.destroy();
    for (const reject of this.#waiting) reject(new Error('Connection closed'));
    this.#waiting.clear();
  }

  get #stream(): Socket {
    const { connection } = this.#connection as unknown as {
      readonly connection: { readonly stream: Socket };
    };
    return connection.stream;
  }

  #unlessDestroyed<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      answer.then(resolve, reject).finally(() => {
        this.#waiting.delete(reject);
      });
    });
  }
}
