import type { OutboxEvent } from '@strandline/core';
import { Top } from '../report/top.js';

/** Names that are told apart: what comes after so many is counted together. */
const MOST = 100_000;
/** Names of a list of the most frequent. */
const LISTED = 10;

export interface Counted {
  readonly name: string;
  readonly events: number;
}

/** How many events there were of each name, for a bounded number of names. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    const before = this.#counts.get(name);
    if (before !== undefined || this.#counts.size < MOST) this.#counts.set(name, (before ?? 0) + 1);
  }

  get size(): number {
    return this.#counts.size;
  }

  top(): Counted[] {
    const top = new Top<Counted>(LISTED);
    for (const [name, events] of this.#counts) top.offer({ name, events }, events);
    return top.items;
  }
}

/** Events by key and by type. */
export class Tally {
  readonly #keys = new Counts();
  readonly #types = new Counts();
  #events = 0;

  add({ key, type }: OutboxEvent): void {
    this.#events += 1;
    this.#keys.add(key);
    if (type !== null) this.#types.add(type);
  }

  get events(): number {
    return this.#events;
  }

  /** Different ones, up to 100,000. */
  get keys(): number {
    return this.#keys.size;
  }

  topKeys(): Counted[] {
    return this.#keys.top();
  }

  topTypes(): Counted[] {
    return this.#types.top();
  }
}
