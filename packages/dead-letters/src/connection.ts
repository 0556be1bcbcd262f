import { inTime } from './deadline.js';
import type { Dialect, Link, Session } from './dialect.js';
import { closedError, LettersError, unavailable } from './errors.js';
import { explain } from './failures.js';
import type { Timeouts } from './options.js';

/** Milliseconds that a goodbye may take. */
const GOODBYE = 1_000;

/**
 * The one connection of a store or a desk, made at the first use and again after it was lost; what is asked of it
 * runs one after the other. A statement that is not answered in time, and a transaction whose end is not known, end
 * it: what comes next must not be sent behind them.
 *
 *     none ──► open ──► lost (broken, silent, of a node that takes no writes) ──► open …
 *     any ──close()──► closed
 */
export class Connection {
  readonly #dialect: Dialect;
  readonly #timeouts: Timeouts;
  /** For errors about tables. */
  readonly #ddl: readonly string[];
  readonly #closing = new AbortController();
  #link: Link | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(dialect: Dialect, timeouts: Timeouts, ddl: readonly string[]) {
    this.#dialect = dialect;
    this.#timeouts = timeouts;
    this.#ddl = ddl;
  }

  get name(): string {
    return this.#dialect.name;
  }

  /** Runs something when all that was asked for before is done. It gets the connection to itself. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      this.#closing.signal.throwIfAborted();
      return work();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** A link that is open; whether it had been used before tells what its first failure may mean. */
  async link(): Promise<{ readonly link: Link; readonly isReused: boolean }> {
    if (this.#link !== null) return { link: this.#link, isReused: true };
    const link = await this.#dialect.link();
    try {
      await this.#answer(link.open(), this.#timeouts.connectTimeout);
    } catch (error) {
      link.destroy();
      throw this.#explained(error, true);
    }
    link.onLost(() => {
      this.drop(link);
    });
    this.#link = link;
    return { link, isReused: false };
  }

  /** A link whose statements have deadlines. After its rejection the link may be gone; see `isOpen`. */
  session(link: Link): Session {
    return {
      run: async (sql, values = []) => {
        try {
          return await this.#answer(link.run(sql, values), this.#timeouts.statementTimeout);
        } catch (error) {
          const trouble = error instanceof LettersError ? 'away' : this.#dialect.trouble(error);
          if (trouble === 'away' || trouble === 'read-only') this.drop(link);
          throw error;
        }
      },
    };
  }

  isOpen(link: Link): boolean {
    return this.#link === link;
  }

  drop(link: Link): void {
    if (this.#link === link) this.#link = null;
    link.destroy();
  }

  /** Whether a failed transaction has left nothing behind and can be run again at once. */
  isAgain(error: unknown): boolean {
    return !(error instanceof LettersError) && this.#dialect.trouble(error) === 'again';
  }

  isMissing(error: unknown): boolean {
    return !(error instanceof LettersError) && this.#dialect.trouble(error) === 'missing';
  }

  /** What the caller is told. */
  explained(error: unknown): LettersError {
    return this.#explained(error, false);
  }

  /** Idempotent. What is under way is cut short. */
  close(): Promise<void> {
    return (this.#closed ??= this.#leave());
  }

  async #leave(): Promise<void> {
    this.#closing.abort(closedError(this.name));
    await this.#last;
    const link = this.#link;
    if (link === null) return;
    this.#link = null;
    await inTime(GOODBYE, new AbortController().signal, link.end(), () => new Error('no answer')).catch(
      () => undefined,
    );
    link.destroy();
  }

  #answer<T>(work: Promise<T>, milliseconds: number): Promise<T> {
    return inTime(milliseconds, this.#closing.signal, work, () =>
      unavailable(this.name, `no answer within ${String(milliseconds)} ms`),
    );
  }

  #explained(error: unknown, isConnecting: boolean): LettersError {
    if (error instanceof LettersError) return error;
    const trouble = this.#dialect.trouble(error);
    // Before there is a session, a missing or forbidden thing is the database itself.
    const isLogin = isConnecting && (trouble === 'missing' || trouble === 'forbidden');
    return explain(this.name, isLogin ? 'login' : trouble, error, this.#ddl);
  }
}
