import { NO_CONTROLS, type Controls, type ControlStore } from '@strandline/core';
import type { Calls } from './calls.js';
import { decodeControls, encodeControls } from './controls-record.js';
import { changeControlsScript, controlsScript } from './controls-scripts.js';

/** One hash per pipeline, with the revision beside the controls: so whether they have changed is a short answer. */
export class RedisControls implements ControlStore {
  readonly #calls: Calls;
  /** Who looks whether they have changed has other work to do: how long it waits for a connection, in milliseconds. */
  readonly #patience: number;

  constructor(calls: Calls, patience: number) {
    this.#calls = calls;
    this.#patience = patience;
  }

  async load(pipeline: string): Promise<Controls> {
    return (await this.#ask(pipeline, '')) ?? NO_CONTROLS;
  }

  newer(pipeline: string, revision: number): Promise<Controls | null> {
    return this.#ask(pipeline, String(revision), this.#patience);
  }

  async change(
    pipeline: string,
    read: Controls,
    by: Pick<Controls, 'paused' | 'held'>,
  ): Promise<Controls | null> {
    const revision = read.revision + 1;
    const [result] = await this.#calls.run({
      script: changeControlsScript,
      key: this.#keyOf(pipeline),
      args: [String(read.revision), String(revision), encodeControls(by)],
    });
    return result === 'done' ? { revision, paused: by.paused, held: by.held } : null;
  }

  async #ask(pipeline: string, known: string, patience?: number): Promise<Controls | null> {
    const key = this.#keyOf(pipeline);
    const [outcome, revision, text] = await this.#calls.run({
      ...{ script: controlsScript, key, args: [known], replicated: false },
      ...(patience === undefined ? {} : { patience }),
    });
    if (outcome === 'same') return null;
    return revision === '0' ? NO_CONTROLS : decodeControls(revision ?? '', text ?? '', key, this.#calls.name);
  }

  #keyOf(pipeline: string): string {
    return this.#calls.keyOf(pipeline, 'controls');
  }
}
