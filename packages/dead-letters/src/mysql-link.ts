import mysql, { type Connection, type ConnectionOptions, type QueryResult } from 'mysql2';
import type { Socket } from 'node:net';
import type { Link, Result, Row, Value } from './dialect.js';

/** As the server would say it, which can also just hang up while a statement is still being sent. */
class PacketTooLarge extends Error {
  readonly errno = 1153;
  readonly code = 'ER_NET_PACKET_TOO_LARGE';
}

/** One connection to MySQL or MariaDB. */
export class MysqlLink implements Link {
  readonly #connection: Connection;
  readonly #session: readonly string[];
  /** Rejects what is waited for: the library forgets it when the connection is destroyed. */
  readonly #waiting = new Set<(error: Error) => void>();
  #longest = Infinity;

  /** @param session settings that each connection gets */
  constructor(config: ConnectionOptions, session: readonly string[]) {
    this.#connection = mysql.createConnection(config);
    this.#session = session;
    // A connection that breaks while nobody awaits it emits an error; `onLost` tells it.
    this.#connection.on('error', () => undefined);
  }

  async open(): Promise<void> {
    await this.#answer<undefined>((done) => {
      this.#connection.connect(done);
    });
    for (const sql of this.#session) await this.run(sql);
    const { rows } = await this.run('select @@max_allowed_packet as longest');
    this.#longest = Number(rows[0]?.['longest']);
  }

  async run(sql: string, values: readonly Value[] = []): Promise<Result> {
    const statement = values.length === 0 ? sql : this.#connection.format(sql, [...values]);
    if (Buffer.byteLength(statement) >= this.#longest)
      throw new PacketTooLarge(`a statement is longer than max_allowed_packet = ${String(this.#longest)}`);
    const result = await this.#answer<QueryResult>((done) => {
      this.#connection.query(statement, done);
    });
    if (Array.isArray(result)) return { rows: result as Row[], changed: 0 };
    return { rows: [], changed: result.affectedRows };
  }

  onLost(listener: () => void): void {
    this.#connection.on('error', listener);
    this.#connection.on('end', listener);
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#connection.end(() => {
        resolve();
      });
    });
  }

  /** The library only says goodbye: on a dead network the socket would wait for an answer, and the process with it. */
  destroy(): void {
    this.#connection.destroy();
    (this.#connection as unknown as { readonly stream: Socket }).stream.destroy();
    for (const reject of this.#waiting) reject(new Error('the connection was lost'));
    this.#waiting.clear();
  }

  async #answer<T>(ask: (done: (error: Error | null, answer?: T) => void) => void): Promise<T> {
    let forget: () => void = () => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#waiting.add(reject);
        forget = () => this.#waiting.delete(reject);
        ask((error, answer) => {
          if (error === null) resolve(answer as T);
          else reject(error);
        });
      });
    } finally {
      forget();
    }
  }
}
