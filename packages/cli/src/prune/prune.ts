import { setTimeout as sleep } from 'node:timers/promises';
import type { Pipeline, PruneReport } from '@strandline/pipeline';
import { cliError } from '../errors.js';
import { written, type Streams } from '../streams.js';
import { json } from '../text.js';
import type { PruneCommandOptions } from './options.js';
import { pruneText } from './text.js';

/** Milliseconds between rounds. */
const EVERY = 60_000;

/** Prunes the outboxes of pipelines, round after round or once. Resolves with whether nothing was held back in the last one. */
export async function prune(
  pipelines: readonly Pipeline[],
  options: PruneCommandOptions,
  { stdout }: Streams,
  stop: AbortSignal,
): Promise<boolean> {
  const once = options.once === true || options.dryRun === true;
  for (;;) {
    let done = true;
    for (const pipeline of pipelines) {
      const report = await round(pipeline, options, stop);
      if (report === null) return true;
      done &&= report.outcome === 'done';
      const text =
        options.json === true
          ? json({ pipeline: pipeline.name, ...report })
          : pruneText(pipeline.name, report);
      await written(stdout, text);
    }
    if (once) return done;
    await sleep(EVERY, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return true;
  }
}

/** Null when it was told to stop meanwhile. */
async function round(
  pipeline: Pipeline,
  { keep, dryRun }: PruneCommandOptions,
  signal: AbortSignal,
): Promise<PruneReport | null> {
  if (typeof (pipeline as Partial<Pipeline>).prune !== 'function') {
    throw cliError(
      'CLI_PIPELINE',
      `The pipeline ${pipeline.name} is of an older release, which can't prune its outbox.`,
      'Update the package strandline that the config imports.',
    );
  }
  try {
    const report = await pipeline.prune({
      ...(keep === undefined ? {} : { keep }),
      ...(dryRun === undefined ? {} : { dryRun }),
      signal,
    });
    return signal.aborted ? null : report;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
