import type { Strand } from './strand.js';

/** Strands that came to live since the map was made, beside those that it was made with, after which it is made anew. */
const FRESH = 1_024;
/** From so many strands on it is left as it is: to make it anew would take milliseconds, and is seldom worth them. */
const LARGE = 16_384;

/**
 * The strands with work, by their key, in the order in which they came to live. A key comes and goes with each of its
 * events, and a Map under such load is given a new table every few thousand of them, to which V8 links the former one.
 * Once a former table has grown old in the heap, it keeps the next one, and all that stood in it, until the whole heap
 * is collected, and that one the next: with that a drain cost a quarter more processor time, and some 60 MiB (measured
 * on Node 20, in about half of the processes). A new Map hangs on nothing.
 */
export class LiveStrands {
  #byKey = new Map<string, Strand>();
  #left = FRESH;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Strand | undefined {
    return this.#byKey.get(key);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Adds the strand of a key that has none. */
  add(strand: Strand): void {
    this.#byKey.set(strand.key, strand);
    this.#left -= 1;
    if (this.#left > 0 || this.#byKey.size > LARGE) return;
    this.#byKey = new Map(this.#byKey);
    this.#left = this.#byKey.size + FRESH;
  }

  delete(strand: Strand): void {
    this.#byKey.delete(strand.key);
  }

  /** In the order in which they came to live. */
  values(): Iterable<Strand> {
    return this.#byKey.values();
  }
}
