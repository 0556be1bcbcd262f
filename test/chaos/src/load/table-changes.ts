import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '@strandline/test-kit';
import type { LoadSession } from './load-session.js';

const BETWEEN = { least: 15_000, most: 60_000 };
/** A change that gets no lock in time, or loses its server, is tried again. */
const PATIENCE = 1_000;

/** Somebody adds a column to the outbox that no event has, and takes it away again. */
export class TableChanges {
  readonly #open: () => Promise<LoadSession>;
  readonly #over = new AbortController();
  readonly #done: Promise<void>;
  #made = 0;

  constructor(open: () => Promise<LoadSession>, random: Random, note: (says: string) => void) {
    this.#open = open;
    this.#done = this.#change(random, note);
  }

  get made(): number {
    return this.#made;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#done;
  }

  async #change(random: Random, note: (says: string) => void): Promise<void> {
    for (let number = 1; ; number += 1) {
      await this.#rest(random.between(BETWEEN.least, BETWEEN.most));
      if (this.#over.signal.aborted) return;
      const column = `note${String(number)}`;
      // A column of its own each time: whether a change whose answer got lost has come through need not be known.
      if (!(await this.#make(`ALTER TABLE outbox ADD COLUMN ${column} varchar(40)`))) return;
      note(`the outbox has got the column ${column}`);
      await this.#rest(random.between(2_000, 10_000));
      if (!(await this.#make(`ALTER TABLE outbox DROP COLUMN ${column}`))) return;
      note(`the outbox has lost the column ${column}`);
    }
  }

  /** False when the run is over first. */
  async #make(sql: string): Promise<boolean> {
    while (!this.#over.signal.aborted) {
      if (await this.#try(sql)) {
        this.#made += 1;
        return true;
      }
      await this.#rest(PATIENCE);
    }
    return false;
  }

  async #try(sql: string): Promise<boolean> {
    let session: LoadSession | null = null;
    try {
      session = await this.#open();
      await session.run(sql);
      return true;
    } catch (error) {
      return /already exists|does not exist|duplicate column|can't drop/i.test(String(error));
    } finally {
      session?.close();
    }
  }

  async #rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }
}
