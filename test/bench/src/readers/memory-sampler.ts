import { peakMib } from './peak.js';

/** Milliseconds between samples: each costs 0.2 ms, and what it would miss between two, the high-water mark has. */
const EVERY = 100;
const MIB = 1024 * 1024;

export interface MemorySample {
  /** Rows seen when it was taken. */
  readonly seen: number;
  readonly rssMib: number;
}

export interface MemoryUse {
  readonly samples: readonly MemorySample[];
  /** The highest that the system saw, between samples too. */
  readonly peakMib: number;
}

/** Samples the resident set of this process. */
export class MemorySampler {
  readonly #samples: MemorySample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(seen: () => number) {
    this.#timer = setInterval(() => {
      this.#samples.push({ seen: seen(), rssMib: process.memoryUsage.rss() / MIB });
    }, EVERY);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  use(): MemoryUse {
    return { samples: this.#samples, peakMib: peakMib() };
  }
}
