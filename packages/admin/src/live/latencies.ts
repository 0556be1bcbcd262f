/** Seconds that were measured within one second: what half of them, and all but a hundredth, stay below. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** Measurements that are kept between two looks: turns are timed at most twice a millisecond. */
const KEPT = 2_500;

/** Collects measurements from one look to the next. */
export class Latencies {
  #seconds: number[] = [];

  add(seconds: number): void {
    if (this.#seconds.length < KEPT) this.#seconds.push(seconds);
  }

  /** Of those since the last call; null when there were none. */
  take(): Quantiles | null {
    const sorted = Float64Array.from(this.#seconds).sort();
    this.#seconds = [];
    if (sorted.length === 0) return null;
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { p50: rounded(at(0.5)), p99: rounded(at(0.99)) };
  }
}

/** To ten microseconds: no clock here is finer. */
function rounded(seconds: number): number {
  return Math.round(seconds * 100_000) / 100_000;
}
