/** What was done to a run, and what was seen of it, with the times. */
export interface Moment {
  readonly at: number;
  readonly says: string;
}

/** A fault that strikes, or has struck. */
export interface Struck {
  readonly name: string;
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
  /** Codes of errors that a process may end with because of it. */
  readonly excuses: readonly string[];
}

/** After a fault is over, what it has begun may go on for so long: retries, deadlines, restarts. */
const AFTERMATH = 20_000;

export class Timeline {
  readonly start = Date.now();
  readonly #moments: Moment[] = [];
  readonly #struck: Struck[] = [];

  get moments(): readonly Moment[] {
    return this.#moments;
  }

  get struck(): readonly Struck[] {
    return this.#struck;
  }

  note(says: string): void {
    this.#moments.push({ at: Date.now(), says });
  }

  begin(name: string, excuses: readonly string[]): Struck {
    const struck: Struck = { name, from: Date.now(), to: Infinity, excuses };
    this.#struck.push(struck);
    return struck;
  }

  /** The fault of which it is a documented consequence that a process ends now with this error. */
  excuse(code: string): Struck | undefined {
    const now = Date.now();
    return this.#struck.find(({ to, excuses }) => now <= to + AFTERMATH && excuses.includes(code));
  }

  /** The lines between two times, for people. */
  excerpt(from: number, to: number): string[] {
    return this.#moments
      .filter(({ at }) => at >= from && at <= to)
      .map(({ at, says }) => `${this.seconds(at)}  ${says}`);
  }

  /** Since the start, as in `+12.345`. */
  seconds(at: number): string {
    return `+${((at - this.start) / 1_000).toFixed(3)}`;
  }
}
