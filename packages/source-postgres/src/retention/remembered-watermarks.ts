import type { Lsn } from '../lsn.js';

/** A watermark, and when it was saved, in milliseconds. */
interface Remembered {
  readonly lsn: Lsn;
  readonly at: number;
}

export interface RememberedLimits {
  /** Milliseconds that a saved watermark is held back; Infinity where bytes alone decide. */
  readonly age: number;
  /** Bytes of log that may lie behind what is released; Infinity where age alone decides. */
  readonly bytes: number;
}

/**
 * Watermarks are remembered at this many steps of the age, and as many of the bytes: so much is held longer than
 * asked for, or less far than allowed, and twice so many entries are the most there can be.
 */
const STEPS = 256;

/** The saved watermarks that are not released yet: which of them may be, by their age and by what they hold. */
export class RememberedWatermarks {
  readonly #limits: RememberedLimits;
  /** Oldest first, all of them above what is released. */
  readonly #entries: Remembered[] = [];
  #last: Remembered;
  #saved: Remembered;
  #released: Lsn;

  /**
   * @param released what the log is released up to already
   * @param now milliseconds of a clock that never goes back
   */
  constructor(limits: RememberedLimits, released: Lsn, now: number) {
    this.#limits = limits;
    this.#released = released;
    this.#last = { lsn: released, at: now };
    this.#saved = this.#last;
  }

  get released(): Lsn {
    return this.#released;
  }

  /** Bytes that are saved and not released. */
  get heldBytes(): number {
    return Number(this.#saved.lsn - this.#released);
  }

  /** For tests: how many are remembered. */
  get size(): number {
    return this.#entries.length;
  }

  save(lsn: Lsn, now: number): void {
    if (lsn <= this.#saved.lsn) return;
    this.#saved = { lsn, at: now };
    this.#remember(now);
  }

  /** Releases the newest that is older than the age. */
  releaseByAge(now: number): void {
    // What was saved within a step after the last one that is remembered, and nothing since.
    this.#remember(now);
    const { age } = this.#limits;
    for (let [first] = this.#entries; first !== undefined && now - first.at >= age; [first] = this.#entries) {
      this.#releaseFirst();
    }
  }

  /** Releases as few as will do to leave at most `bytes` up to `walEnd`; whether it had to release any. */
  releaseByBytes(walEnd: Lsn, bytes: number): boolean {
    const before = this.#released;
    while (Number(walEnd - this.#released) > bytes && this.#released < this.#saved.lsn) this.#releaseFirst();
    return this.#released > before;
  }

  #releaseFirst(): void {
    this.#released = this.#entries.shift()?.lsn ?? this.#saved.lsn;
  }

  #remember(now: number): void {
    const { age, bytes } = this.#limits;
    const aged = now - this.#last.at >= age / STEPS;
    const grown = Number(this.#saved.lsn - this.#last.lsn) >= bytes / STEPS;
    if (this.#saved.lsn === this.#last.lsn || (!aged && !grown)) return;
    this.#last = this.#saved;
    if (this.#last.lsn > this.#released) this.#entries.push(this.#last);
  }
}
