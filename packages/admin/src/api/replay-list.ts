import type { Replay } from '@strandline/pipeline';
import { problemOf, type Problem } from './problem.js';
import type { z } from './parts.js';
import type { replaySchema } from './schemas.js';

/** Replays of one process that are remembered after their end. */
const REMEMBERED = 50;

export interface Started {
  readonly pipeline: string;
  readonly replay: Replay;
  /** What it has failed with. */
  error: Problem | null;
}

/** Replays that were started over the API; they are stopped with their pipelines. */
export class ReplayList {
  #started: Started[] = [];

  /** Newest first. */
  of(pipeline: string): readonly Started[] {
    return this.#started.filter((one) => one.pipeline === pipeline).reverse();
  }

  add(pipeline: string, replay: Replay): Started {
    const started: Started = { pipeline, replay, error: null };
    // The same name, asked for again, goes on with the same replay.
    this.#started = this.#started.filter(
      (one) => one.pipeline !== pipeline || one.replay.name !== replay.name,
    );
    this.#started.push(started);
    if (this.#started.length > REMEMBERED) {
      const oldest = this.#started.find((one) => one.replay.status().state !== 'running');
      this.#started = this.#started.filter((one) => one !== oldest);
    }
    replay.finished.catch((error: unknown) => {
      started.error = problemOf(error).problem;
    });
    return started;
  }
}

export function viewOf({ replay, error }: Started): z.infer<typeof replaySchema> {
  return { ...replay.status(), error };
}
