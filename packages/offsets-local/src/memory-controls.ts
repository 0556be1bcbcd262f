import { NO_CONTROLS, type Controls, type ControlStore } from '@strandline/core';
import type { Beside } from './memory-beside.js';
import type { Answer } from './memory-bookmarks.js';

export class MemoryControls implements ControlStore {
  readonly #answer: Answer;
  readonly #all: Beside['controls'];

  constructor(answer: Answer, { controls }: Beside) {
    this.#answer = answer;
    this.#all = controls;
  }

  load(pipeline: string): Promise<Controls> {
    return this.#answer(pipeline, () => this.#of(pipeline));
  }

  newer(pipeline: string, revision: number): Promise<Controls | null> {
    return this.#answer(pipeline, () => {
      const held = this.#of(pipeline);
      return held.revision === revision ? null : held;
    });
  }

  change(
    pipeline: string,
    read: Controls,
    { paused, held }: Pick<Controls, 'paused' | 'held'>,
  ): Promise<Controls | null> {
    return this.#answer(pipeline, () => {
      if (this.#of(pipeline).revision !== read.revision) return null;
      const next = structuredClone({ revision: read.revision + 1, paused, held });
      this.#all.set(pipeline, next);
      return next;
    });
  }

  #of(pipeline: string): Controls {
    return this.#all.get(pipeline) ?? NO_CONTROLS;
  }
}
