import { peakMib } from './peak.js';
import { now, type Reading, type ReaderSettings } from './reading.js';

const FAULTS_KEPT = 5;
/** A reader that sees no row for so long, in milliseconds, has lost some: the check will say how many. */
const STALL = 60_000;
const LOOK_EVERY = 1_000;

/**
 * A reader's own note of what it has seen. It trusts nothing of the reader but the key and the ordinal that
 * the row itself carries, and costs some nanoseconds a row.
 */
export class ReadingRecord {
  readonly #settings: ReaderSettings;
  readonly #last: Uint32Array;
  readonly #arrivals: Float64Array;
  readonly #faults: string[] = [];
  readonly #isUntimed: Uint8Array;
  #seen = 0;
  #timedLeft: number;
  #startedAt = NaN;
  #endedAt = NaN;
  #cpuAtStart = process.cpuUsage();
  #cpu = NaN;
  #onTimed: () => void = () => undefined;
  #onAll: () => void = () => undefined;
  /** Resolves when every timed row was seen, or none came any more. */
  readonly timedSeen: Promise<void>;
  /** Resolves when every row was seen, or none came any more. */
  readonly allSeen: Promise<void>;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
    this.#last = new Uint32Array(settings.keys);
    this.#arrivals = new Float64Array(settings.arrivals === true ? settings.rows : 0);
    this.#isUntimed = new Uint8Array(settings.keys);
    for (const key of settings.untimed?.keys ?? []) this.#isUntimed[key] = 1;
    this.#timedLeft = settings.rows - (settings.untimed?.rows ?? 0);
    this.timedSeen = new Promise((resolve) => {
      this.#onTimed = resolve;
    });
    this.allSeen = new Promise((resolve) => {
      this.#onAll = resolve;
    });
    this.#watchForStall();
  }

  get seen(): number {
    return this.#seen;
  }

  /** The server has begun to stream: the clock starts. */
  start(): void {
    this.#startedAt = now();
    this.#cpuAtStart = process.cpuUsage();
  }

  see(key: number, ordinal: number): void {
    const expected = (this.#last[key] ?? 0) + 1;
    if (ordinal !== expected) this.#fault(key, ordinal, expected);
    this.#last[key] = ordinal;
    this.#seen += 1;
    if (this.#settings.arrivals === true) this.#arrivals[(ordinal - 1) * this.#settings.keys + key] = now();
    if (this.#isUntimed[key] === 0) {
      this.#timedLeft -= 1;
      if (this.#timedLeft === 0) {
        this.#endedAt = now();
        this.#cpu = milliseconds(process.cpuUsage(this.#cpuAtStart));
        this.#onTimed();
      }
    }
    if (this.#seen === this.#settings.rows) this.#onAll();
  }

  reading(): Reading {
    return {
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
      cpu: this.#cpu,
      seen: this.#seen,
      peakMib: peakMib(),
      lastOrdinals: this.#last,
      faults: this.#faults,
      arrivals: this.#arrivals,
    };
  }

  #fault(key: number, ordinal: number, expected: number): void {
    if (this.#faults.length >= FAULTS_KEPT) return;
    this.#faults.push(`key ${String(key)}: row ${String(ordinal)} came where ${String(expected)} was due`);
  }

  #watchForStall(): void {
    let before = -1;
    let since = now();
    const timer = setInterval(() => {
      if (this.#seen !== before) {
        before = this.#seen;
        since = now();
      } else if (now() - since > STALL || this.#seen >= this.#settings.rows) {
        clearInterval(timer);
        this.#onTimed();
        this.#onAll();
      }
    }, LOOK_EVERY);
  }
}

function milliseconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
