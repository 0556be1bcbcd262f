/** How long the handlers of a workload take, without doing anything. */
export interface WaitSettings {
  /** In milliseconds, whole ones: timers know no others. */
  readonly mean: number;
  /** Up to so many milliseconds more or less, as a seeded draw says. */
  readonly jitter: number;
}

const SEED = 0x5eed;

/** Handlers that wait, and how long they really did: a timer is always a little late. */
export class Waits {
  readonly #settings: WaitSettings;
  #state = SEED;
  #count = 0;
  #sum = 0;

  constructor(settings: WaitSettings) {
    this.#settings = settings;
  }

  /** Milliseconds of the waits that have ended, on average. */
  get measuredMean(): number {
    return this.#sum / this.#count;
  }

  async next(): Promise<void> {
    const startedAt = performance.now();
    await new Promise<void>((resolve) => setTimeout(resolve, this.#draw()));
    this.#sum += performance.now() - startedAt;
    this.#count += 1;
  }

  #draw(): number {
    const { mean, jitter } = this.#settings;
    if (jitter === 0) return mean;
    return mean - jitter + Math.floor(this.#unit() * (2 * jitter + 1));
  }

  /** A linear congruential generator (the constants are those of Numerical Recipes): every run draws the same. */
  #unit(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }
}
