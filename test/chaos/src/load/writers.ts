import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '@strandline/test-kit';
import type { LoadSession } from './load-session.js';
import { drawTransaction, type Step, type Transaction } from './transactions.js';

/** Sessions at once. */
const WRITERS = 4;
/** Before a session that has lost its server tries again. */
const PATIENCE = 200;

/**
 * The application's sessions. Each goes through transactions of its own, whose contents the seed tells; when the server
 * goes away under one, it is lost or not, and the session begins with the next one. What came of it all is for the
 * database's log to say.
 */
export class Writers {
  readonly #open: () => Promise<LoadSession>;
  readonly #loops: Promise<void>[];
  #isOver = false;
  #begun = 0;
  #broken = 0;

  constructor(open: () => Promise<LoadSession>, random: Random) {
    this.#open = open;
    this.#loops = Array.from({ length: WRITERS }, () => this.#write(random.branch()));
  }

  /** Transactions that were begun, and how many of them met a server that went away. */
  get counts(): { readonly begun: number; readonly broken: number } {
    return { begun: this.#begun, broken: this.#broken };
  }

  /** Lets each end its transaction. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #write(random: Random): Promise<void> {
    let session: LoadSession | null = null;
    while (!this.#isOver) {
      const transaction = drawTransaction(random);
      try {
        session ??= await this.#open();
        await this.#carryOut(transaction, session);
        await sleep(transaction.rest);
      } catch {
        this.#broken += 1;
        session?.close();
        session = null;
        await sleep(PATIENCE);
      }
    }
    session?.close();
  }

  async #carryOut({ steps, ends }: Transaction, session: LoadSession): Promise<void> {
    this.#begun += 1;
    await session.run('BEGIN');
    for (const step of steps) await this.#take(step, session);
    await session.run(ends === 'commit' ? 'COMMIT' : 'ROLLBACK');
  }

  async #take(step: Step, session: LoadSession): Promise<void> {
    switch (step.does) {
      case 'insert':
        if (step.rows.length > 0) await session.insert(step.rows);
        break;
      case 'other':
        await session.run(`INSERT INTO bystanders (note) VALUES ('nobody watches')`);
        break;
      case 'savepoint':
        await session.run('SAVEPOINT here');
        break;
      case 'back':
        await session.run('ROLLBACK TO SAVEPOINT here');
        break;
      case 'linger':
        if (!this.#isOver) await sleep(step.ms);
        break;
    }
  }
}
