import type { Pipeline } from '@strandline/pipeline';
import { Progress } from './progress.js';
import { healthOf, type PipelineHealth } from './verdict.js';

/** Milliseconds between looks. */
const EVERY = 1_000;

export type Watched = Pick<Pipeline, 'name' | 'status'>;

/** Looks at the pipelines of this process once a second, and tells how they are. */
export class HealthWatch {
  readonly #stalledAfter: number;
  readonly #watched: readonly { readonly pipeline: Watched; readonly progress: Progress }[];
  #timer: NodeJS.Timeout | undefined;

  /** @param stalledAfter milliseconds with work and without progress from which on a pipeline counts as stalled */
  constructor(pipelines: readonly Watched[], stalledAfter: number) {
    this.#stalledAfter = stalledAfter;
    this.#watched = pipelines.map((pipeline) => ({ pipeline, progress: new Progress() }));
  }

  start(): void {
    this.#look();
    this.#timer = setInterval(() => {
      this.#look();
    }, EVERY).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  health(): PipelineHealth[] {
    const now = performance.now();
    return this.#watched.map(({ pipeline, progress }) =>
      healthOf(pipeline.status(), progress.standing(now), this.#stalledAfter),
    );
  }

  #look(): void {
    const now = performance.now();
    for (const { pipeline, progress } of this.#watched) progress.look(pipeline.status(), now);
  }
}
