import type { ParkingOptions } from '../config.js';

/** When parked keys are tried again by themselves: later after each failure of a key in a row. */
export class Schedule {
  readonly #delays: ParkingOptions['schedule'];
  readonly #failures = new Map<string, number>();

  constructor(delays: ParkingOptions['schedule']) {
    this.#delays = delays;
  }

  /** A key is parked, or parked again: when it is released, as an ISO 8601 time; null when somebody has to do it. */
  failed(key: string): string | null {
    if (this.#delays === null) return null;
    const { initialDelay, maxDelay } = this.#delays;
    const before = this.#failures.get(key) ?? 0;
    this.#failures.set(key, before + 1);
    return new Date(Date.now() + Math.min(maxDelay, initialDelay * 2 ** before)).toISOString();
  }

  /** It is live again. */
  succeeded(key: string): void {
    this.#failures.delete(key);
  }
}
