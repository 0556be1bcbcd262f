/** Integers that are kept as they came before they are joined to ranges. */
const RECENT = 4_096;
/** Entries, of which an integer range and a text are one each: some hundred MB at worst. */
const LIMIT = 1_000_000;

const INTEGER = /^(?:0|[1-9]\d{0,15})$/;

/** Whether rows of these ids are meant. */
export interface Ids {
  has(id: string): boolean;
}

/**
 * The ids of very many rows. Integers are kept as ranges: those of rows that were inserted one after the other are few
 * entries, however many they are. Other ids, such as UUIDs, are kept as they are, up to a limit.
 */
export class IdSet implements Ids {
  readonly #limit: number;
  readonly #texts = new Set<string>();
  #recent = new Set<number>();
  /** Both in order: the i-th range is from the i-th start to the i-th end, and no two of them touch. */
  #starts: number[] = [];
  #ends: number[] = [];

  constructor(limit = LIMIT) {
    this.#limit = limit;
  }

  /** Returns false when there is no room for it. */
  add(id: string): boolean {
    const integer = INTEGER.test(id) ? Number(id) : NaN;
    if (!Number.isSafeInteger(integer)) {
      if (this.#texts.size + this.#starts.length >= this.#limit && !this.#texts.has(id)) return false;
      this.#texts.add(id);
      return true;
    }
    this.#recent.add(integer);
    if (this.#recent.size >= Math.min(RECENT, this.#limit)) this.#join();
    return this.#texts.size + this.#starts.length <= this.#limit;
  }

  has(id: string): boolean {
    if (!INTEGER.test(id)) return this.#texts.has(id);
    const integer = Number(id);
    if (!Number.isSafeInteger(integer)) return this.#texts.has(id);
    if (this.#recent.has(integer)) return true;
    const index = this.#rangeFrom(integer);
    return index >= 0 && integer <= (this.#ends[index] ?? -1);
  }

  /** Makes ranges of the recent ones and of those that were there. */
  #join(): void {
    const recent = [...this.#recent].sort((a, b) => a - b);
    const starts: number[] = [];
    const ends: number[] = [];
    const put = (start: number, end: number): void => {
      const last = ends.at(-1);
      if (last === undefined || start > last + 1) {
        starts.push(start);
        ends.push(end);
      } else if (end > last) {
        ends[ends.length - 1] = end;
      }
    };
    let next = 0;
    this.#starts.forEach((start, index) => {
      for (let one = recent[next]; one !== undefined && one < start; one = recent[next]) {
        put(one, one);
        next += 1;
      }
      put(start, this.#ends[index] ?? start);
    });
    for (const one of recent.slice(next)) put(one, one);
    this.#starts = starts;
    this.#ends = ends;
    this.#recent = new Set();
  }

  /** The last range that starts at the number or before it, or -1. */
  #rangeFrom(integer: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) <= integer) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
