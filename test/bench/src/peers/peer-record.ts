import { now } from '../readers/reading.js';
import type { PeerReading } from './peer.js';

const FAULTS_KEPT = 5;

/** What a peer is asked for while its speed is measured, and how long it may take, in milliseconds. */
interface Limits {
  readonly rows: number;
  readonly keys: number;
  readonly limit: number;
}

/**
 * The note of a peer's calls while its speed is measured. What it saw has to be a gapless beginning of each key, in
 * order and without a repetition, and no two calls of a key may run at once.
 */
export class PeerRecord {
  readonly #limits: Limits;
  readonly #last: Uint32Array;
  readonly #running: Uint8Array;
  readonly #faults: string[] = [];
  readonly #finish: (reading: PeerReading) => void;
  #seen = 0;
  #startedAt = NaN;
  #cpuAtStart = process.cpuUsage();
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;
  /** Resolves with the last row, or when the time is over. */
  readonly reading: Promise<PeerReading>;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#last = new Uint32Array(limits.keys);
    this.#running = new Uint8Array(limits.keys);
    let finish: (reading: PeerReading) => void = () => undefined;
    this.reading = new Promise((resolve) => {
      finish = resolve;
    });
    this.#finish = finish;
  }

  /** A call starts. The first one starts the clock. */
  begin(key: number, ordinal: number): void {
    if (this.#isOver) return;
    if (this.#timer === null) this.#start();
    const due = (this.#last[key] ?? 0) + 1;
    if (this.#running[key] !== 0)
      this.#fault(`key ${String(key)}: row ${String(ordinal)} starts while row ${String(due - 1)} runs`);
    if (ordinal !== due)
      this.#fault(`key ${String(key)}: row ${String(ordinal)} came where ${String(due)} was due`);
    this.#last[key] = ordinal;
    this.#running[key] = (this.#running[key] ?? 0) + 1;
  }

  /** It ends, and counts. */
  end(key: number): void {
    if (this.#isOver) return;
    this.#running[key] = (this.#running[key] ?? 0) - 1;
    this.#seen += 1;
    if (this.#seen >= this.#limits.rows) this.#stop();
  }

  #start(): void {
    this.#startedAt = now();
    this.#cpuAtStart = process.cpuUsage();
    this.#timer = setTimeout(() => {
      this.#stop();
    }, this.#limits.limit);
  }

  #stop(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    this.#finish({
      startedAt: this.#startedAt,
      endedAt: now(),
      cpu: (user + system) / 1_000,
      seen: this.#seen,
      lastOrdinals: this.#last,
      faults: this.#faults,
    });
  }

  #fault(says: string): void {
    if (this.#faults.length < FAULTS_KEPT) this.#faults.push(says);
  }
}
