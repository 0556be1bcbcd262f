import type {
  DeadLetter,
  DeadLetterDesk,
  DeadLetterStore,
  Finding,
  LetterCounts,
  LetterFilter,
  LetterLimits,
} from '@strandline/core';
import { pipelineError } from '../errors.js';

/** Letters that are read at once. */
const PAGE = 100;

export interface LetterPage {
  /** The number of the last letter of the page before; null for the first page. */
  readonly after?: string | null;
  /** Default 100. A page may be shorter; the end is an empty one. */
  readonly limit?: number;
}

/**
 * The dead letters of one pipeline, for an operator: from any process that has the pipeline's definition, whether the
 * pipeline runs there, elsewhere or not at all. A pipeline that runs works off what is released here, without a
 * restart; each change is one transaction. The connection is made at the first use.
 *
 * Errors: those of the dead-letter store, and `PIPELINE_STATE` after the pipeline was stopped here.
 */
export interface PipelineDesk {
  /** Letters in the order in which they were stored. */
  list(filter?: LetterFilter, page?: LetterPage): Promise<readonly DeadLetter[]>;
  /** By its number in the table. */
  show(id: string): Promise<DeadLetter | null>;
  counts(): Promise<LetterCounts>;
  /**
   * Releases the keys of the letters that fit, all when there is no filter; those that were skipped wait again, behind
   * what their keys have. Tells the keys.
   */
  retry(filter?: LetterFilter): Promise<readonly string[]>;
  /**
   * Leaves the head of a key out, and releases the key. Tells the letter; null when none waits, or another one than
   * `letter` is the head by now.
   */
  skip(key: string, letter?: string): Promise<DeadLetter | null>;
  /** Gives up all letters of a key that wait or were skipped, and releases it. Tells how many. */
  discard(key: string): Promise<number>;
  /**
   * Letters key by key, each key's in its order. What is kept in memory meanwhile is their numbers, not the letters,
   * which are read twice.
   */
  export(filter?: LetterFilter): AsyncIterable<DeadLetter>;
  /** Whether the table can take letters, and has any that somebody should look at. Touches nothing. */
  diagnose(): Promise<readonly Finding[]>;
}

/** The store's desk, in the name of a pipeline. */
export class NamedDesk implements PipelineDesk {
  readonly #pipeline: string;
  readonly #store: DeadLetterStore;
  readonly #limits: LetterLimits;
  #desk: DeadLetterDesk | null = null;
  #isClosed = false;

  constructor(pipeline: string, store: DeadLetterStore, limits: LetterLimits) {
    this.#pipeline = pipeline;
    this.#store = store;
    this.#limits = limits;
  }

  async list(
    filter: LetterFilter = {},
    { after = null, limit = PAGE }: LetterPage = {},
  ): Promise<readonly DeadLetter[]> {
    return this.#open().list(this.#pipeline, filter, { after, limit });
  }

  async show(id: string): Promise<DeadLetter | null> {
    return this.#open().show(this.#pipeline, id);
  }

  async counts(): Promise<LetterCounts> {
    return this.#open().counts(this.#pipeline);
  }

  async retry(filter: LetterFilter = {}): Promise<readonly string[]> {
    return this.#open().retry(this.#pipeline, filter);
  }

  async skip(key: string, letter?: string): Promise<DeadLetter | null> {
    return this.#open().skipHead(this.#pipeline, key, letter);
  }

  async discard(key: string): Promise<number> {
    return this.#open().discard(this.#pipeline, key);
  }

  async *export(filter: LetterFilter = {}): AsyncGenerator<DeadLetter> {
    for (const letters of (await this.#numbersByKey(filter)).values()) {
      // The order of storing is not the order of the key: a head is parked after its followers at times.
      letters.sort((a, b) => a.place - b.place);
      for (const { id } of letters) {
        const letter = await this.show(id);
        if (letter !== null) yield letter;
      }
    }
  }

  async diagnose(): Promise<readonly Finding[]> {
    return (await this.#store.diagnose?.(this.#pipeline, this.#limits)) ?? [];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#desk?.close();
  }

  async #numbersByKey(filter: LetterFilter): Promise<Map<string, { id: string; place: number }[]>> {
    const keys = new Map<string, { id: string; place: number }[]>();
    for (let after: string | null = null; ;) {
      const page = await this.list(filter, { after });
      for (const { id, place, event } of page) {
        const known = keys.get(event.key);
        if (known === undefined) keys.set(event.key, [{ id, place }]);
        else known.push({ id, place });
        after = id;
      }
      if (page.length === 0) return keys;
    }
  }

  #open(): DeadLetterDesk {
    if (this.#isClosed) {
      throw pipelineError(
        'PIPELINE_STATE',
        `The pipeline ${this.#pipeline} was stopped here, and its dead letters were closed with it.`,
        'Define the pipeline again to ask for them.',
      );
    }
    return (this.#desk ??= this.#store.desk());
  }
}
