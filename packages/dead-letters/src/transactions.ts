import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './connection.js';
import type { Dialect, Link, Result, Session, Value } from './dialect.js';

/** How often a transaction is run that a deadlock or its like has rolled back. */
const ATTEMPTS = 5;
/** Milliseconds, times the attempt and a lot. */
const AGAIN_AFTER = 20;

/** Transactions over one connection: each is done as a whole or not at all. */
export class Transactions {
  readonly #connection: Connection;
  readonly #dialect: Dialect;

  constructor(connection: Connection, dialect: Dialect) {
    this.#connection = connection;
    this.#dialect = dialect;
  }

  get name(): string {
    return this.#connection.name;
  }

  /**
   * Rejects with `LETTERS_UNAVAILABLE` too when it is not known whether it was committed.
   *
   * @param recover is called once when a table is missing; when it resolves, the work is tried again
   */
  run<T>(work: (session: Session) => Promise<T>, recover?: (session: Session) => Promise<void>): Promise<T> {
    return this.#explained(() => this.#repeated(work, recover));
  }

  /** Rows of one query, which needs no transaction. */
  rows(sql: string, values: readonly Value[]): Promise<Result['rows']> {
    return this.#explained(async () => {
      const { result } = await this.#first((session) => session.run(sql, values));
      return result.rows;
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #explained<T>(work: () => Promise<T>): Promise<T> {
    return this.#connection.exclusively(async () => {
      try {
        return await work();
      } catch (error) {
        throw this.#connection.explained(error);
      }
    });
  }

  async #repeated<T>(
    work: (session: Session) => Promise<T>,
    recover: ((session: Session) => Promise<void>) | undefined,
  ): Promise<T> {
    let remedy = recover;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        if (remedy !== undefined && this.#connection.isMissing(error)) {
          await this.#attempt(remedy);
          remedy = undefined;
        } else if (this.#connection.isAgain(error) && attempt < ATTEMPTS) {
          await delay(AGAIN_AFTER * attempt * Math.random());
        } else {
          throw error;
        }
      }
    }
  }

  async #attempt<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { link } = await this.#first((session) => session.run(this.#dialect.begin));
    const session = this.#connection.session(link);
    try {
      const result = await work(session);
      await session.run('commit');
      return result;
    } catch (error) {
      await this.#rollBack(link, session);
      throw error;
    }
  }

  /** The first statement of something. A connection that has died since the last one is replaced: nothing was done. */
  async #first(ask: (session: Session) => Promise<Result>): Promise<{ link: Link; result: Result }> {
    const { link, isReused } = await this.#connection.link();
    try {
      return { link, result: await ask(this.#connection.session(link)) };
    } catch (error) {
      if (!isReused || this.#connection.isOpen(link)) throw error;
    }
    const fresh = (await this.#connection.link()).link;
    return { link: fresh, result: await ask(this.#connection.session(fresh)) };
  }

  /** What fails in a commit, or can't be rolled back, ends the session, and with it the transaction. */
  async #rollBack(link: Link, session: Session): Promise<void> {
    if (!this.#connection.isOpen(link)) return;
    await session.run('rollback').catch(() => {
      this.#connection.drop(link);
    });
  }
}
