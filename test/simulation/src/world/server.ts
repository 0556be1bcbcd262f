import { LOG_START, type Log } from './log.js';

/** A connection to the server that holds the lock on the pipeline's log. */
export interface Session {
  readonly name: string;
}

/** The database server: it has the log, and gives the right to read it to one session at a time. */
export class Server {
  #holder: Session | null = null;
  #waiting: (() => void)[] = [];
  /** The log is kept from here on. */
  released = LOG_START;

  constructor(readonly log: Log) {}

  holds(session: Session): boolean {
    return this.#holder === session;
  }

  get isFree(): boolean {
    return this.#holder === null;
  }

  take(name: string): Session {
    if (this.#holder !== null) throw new Error(`${this.#holder.name} holds the log`);
    this.#holder = { name };
    return this.#holder;
  }

  /** The session ends. */
  free(session: Session): void {
    if (this.#holder !== session) return;
    this.#holder = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Calls back once, when nobody holds the log. */
  onFree(wake: () => void): void {
    this.#waiting.push(wake);
  }
}
