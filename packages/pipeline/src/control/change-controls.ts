import type { Controls, ControlStore } from '@strandline/core';
import { pipelineError } from '../errors.js';
import type { Ordered } from './orders.js';

/** How often it is tried when others change the controls at the same moment. */
const TRIES = 20;

/** What an edit makes of the controls that were read; null when there is nothing to change. */
export type Edit = (read: Controls) => Ordered | null;

/**
 * Changes the controls of a pipeline as they are then, whoever else changes them: read, edited, written, and begun again
 * when somebody was faster. Tells what they are afterwards. Throws `PIPELINE_CONTROLS_MOVED`, and what edit and store
 * throw.
 */
export async function changeControls(store: ControlStore, pipeline: string, edit: Edit): Promise<Controls> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const read = await store.load(pipeline);
    const by = edit(read);
    if (by === null) return read;
    const changed = await store.change(pipeline, read, by);
    if (changed !== null) return changed;
  }
  throw pipelineError(
    'PIPELINE_CONTROLS_MOVED',
    `Others have changed the controls of the pipeline ${pipeline} again and again meanwhile.`,
    'Ask again.',
    { transient: true },
  );
}
