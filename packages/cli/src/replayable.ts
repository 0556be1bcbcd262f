import type { Pipeline } from '@strandline/pipeline';
import { cliError } from './errors.js';

/** Throws `CLI_PIPELINE` for a pipeline of an older copy of the packages, which a config may bring. */
export function replayable(pipeline: Pipeline): Pipeline {
  if (typeof (pipeline as Partial<Pipeline>).replay === 'function') return pipeline;
  throw cliError(
    'CLI_PIPELINE',
    `The pipeline ${pipeline.name} is of an older release, which can't read the log again.`,
    'Update the package strandline that the config imports.',
  );
}
