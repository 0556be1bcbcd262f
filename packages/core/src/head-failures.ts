import { withRoom, type FailedAttempts, type FailureHistory } from './failure-history.js';
import { isSameError, shortError } from './short-error.js';

/** What came before the present error: few heads fail with more than one. */
interface Earlier {
  /** The entries of the history, packed, a line each. */
  readonly lines: string;
  /** The first attempt with the present error, and when it failed. */
  readonly since: number;
  readonly sinceAt: number;
}

/** What is known of the failures of one head. Times are on the executor's clock. */
export class HeadFailures {
  readonly firstAt: number;
  lastAt: number;
  /** When it is tried again; NaN outside of backoff. */
  dueAt = NaN;
  lastError: unknown;
  /** Attempts that failed. */
  #count = 1;
  #earlier: Earlier | null = null;

  constructor(error: unknown, now: number) {
    this.firstAt = now;
    this.lastAt = now;
    this.lastError = error;
  }

  /** It has failed once more. */
  add(error: unknown, now: number): void {
    const isSame = error === this.lastError || isSameError(shortError(this.lastError), shortError(error));
    if (!isSame) {
      const lines = withRoom([...this.#lines(), pack(this.#present())]).join('\n');
      this.#earlier = { lines, since: this.#count + 1, sinceAt: now };
    }
    this.#count += 1;
    this.lastAt = now;
    this.lastError = error;
  }

  /** What its attempts failed with. */
  get history(): FailureHistory<number> {
    return [...this.#lines().map(unpack), this.#present()];
  }

  /** The attempts that failed with the present error. */
  #present(): FailedAttempts<number> {
    return {
      first: this.#earlier?.since ?? 1,
      last: this.#count,
      firstFailedAt: this.#earlier?.sinceAt ?? this.firstAt,
      lastFailedAt: this.lastAt,
      error: shortError(this.lastError),
    };
  }

  #lines(): string[] {
    return this.#earlier?.lines.split('\n') ?? [];
  }
}

/** An entry: its first attempt, how many more it has, when the first failed, how much later the last, and the error. */
type Packed = readonly [number, number, number, number, string, string | null, string];

/**
 * A text, for a million keys may be failing: some 80 bytes where each entry would be several objects; and it holds on to
 * nothing of the errors, whose messages may be parts of large texts.
 */
function pack({ first, last, firstFailedAt, lastFailedAt, error }: FailedAttempts<number>): string {
  const { name, code, message } = error;
  const took = toMicroseconds(lastFailedAt - firstFailedAt);
  const packed: Packed = [first, last - first, toMicroseconds(firstFailedAt), took, name, code, message];
  return JSON.stringify(packed);
}

/** The milliseconds without the digits that no clock means. */
function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}

function unpack(line: string): FailedAttempts<number> {
  const [first, more, firstFailedAt, took, name, code, message] = JSON.parse(line) as Packed;
  return {
    first,
    last: first + more,
    firstFailedAt,
    lastFailedAt: firstFailedAt + took,
    error: { name, code, message },
  };
}
