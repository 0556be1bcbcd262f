import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxSession } from './outbox-session.js';

export interface WriterOptions {
  /** Transactions that are open at once. Default 4. */
  readonly writers?: number;
  /** Keys are k0, k1, … Default 20. */
  readonly keys?: number;
  /** Longest time between the insert and its commit, in milliseconds; default 3. */
  readonly linger?: number;
  /** Most rows of one transaction; default 5. */
  readonly rows?: number;
  /** Share of the transactions that roll back; default 0.1. */
  readonly rollbacks?: number;
  /** Goes on when the server is away: whether a commit came through is then for the CommitWitness to say. */
  readonly tolerant?: boolean;
}

/**
 * Transactions on the outbox, several at once, that take their ids early and commit in another order. Each inserts
 * some rows with one statement, lingers, and commits or rolls back.
 */
export class OutboxWriters implements AsyncDisposable {
  readonly #connect: () => Promise<OutboxSession>;
  readonly #options: Required<WriterOptions>;
  readonly #loops: Promise<void>[];
  #stopped = false;
  #committed = 0;

  constructor(connect: () => Promise<OutboxSession>, options: WriterOptions = {}) {
    this.#connect = connect;
    this.#options = { writers: 4, keys: 20, linger: 3, rows: 5, rollbacks: 0.1, tolerant: false, ...options };
    this.#loops = Array.from({ length: this.#options.writers }, () => this.#write());
    for (const loop of this.#loops) loop.catch(() => undefined); // told by stop()
  }

  /** Rows whose commit was answered so far. */
  get committed(): number {
    return this.#committed;
  }

  /** Lets each end its transaction. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#loops);
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      try {
        await using session = await this.#connect();
        while (!this.#stopped) this.#committed += await this.#transaction(session);
      } catch (error) {
        if (!this.#options.tolerant) throw error;
        await sleep(20);
      }
    }
  }

  async #transaction(session: OutboxSession): Promise<number> {
    const { rows, linger, rollbacks, keys } = this.#options;
    const count = 1 + Math.floor(Math.random() * rows);
    const rollsBack = Math.random() < rollbacks;
    const key = (): string => `k${String(Math.floor(Math.random() * keys))}`;
    await session.begin();
    await session.insert(Array.from({ length: count }, () => ({ key: key() })));
    if (linger > 0) await sleep(Math.random() * linger);
    await (rollsBack ? session.rollback() : session.commit());
    return rollsBack ? 0 : count;
  }
}
