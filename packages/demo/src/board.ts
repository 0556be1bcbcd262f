import { setTimeout as delay } from 'node:timers/promises';
import { Background } from './background.js';
import { NO_COUNTS, type LiveCounts } from './live-counts.js';
import type { Progress } from './progress.js';
import type { View } from './view.js';

/** The count joins three tables that grow all the time; twice a second is enough for the eye. */
const COUNT_EVERY_MS = 500;

export interface BoardOptions {
  readonly view: View;
  readonly count: () => Promise<LiveCounts>;
  readonly look: () => Omit<Progress, 'counts' | 'phase'>;
}

/** Keeps the view current. */
export class Board {
  readonly counting: Background;
  phase: Progress['phase'] = 'selling';
  readonly #options: BoardOptions;
  readonly #drawing: NodeJS.Timeout;
  #counts: LiveCounts = NO_COUNTS;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#drawing = setInterval(() => {
      this.#draw();
    }, options.view.everyMs);
    this.counting = new Background(async (stopping) => {
      while (!stopping.aborted) {
        this.#counts = await options.count();
        await delay(COUNT_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
      }
      this.#counts = await options.count();
    });
  }

  /** Counts and draws a last time. */
  async finish(): Promise<void> {
    await this.#end();
    this.phase = 'done';
    this.#draw();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end().catch(() => undefined);
  }

  async #end(): Promise<void> {
    clearInterval(this.#drawing);
    await this.counting.stop();
  }

  #draw(): void {
    this.#options.view.show({ ...this.#options.look(), phase: this.phase, counts: this.#counts });
  }
}
