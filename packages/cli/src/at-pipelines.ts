import type { Pipeline } from '@strandline/pipeline';
import { atChosen } from './at-chosen.js';
import { choosePipeline } from './choose-pipeline.js';
import { cliError } from './errors.js';
import type { PipelineOptions } from './options.js';
import type { Streams } from './streams.js';

/**
 * Runs a command that looks at the pipeline that is named, or at all of the config; resolves with the command's exit
 * code.
 */
export function atPipelines(
  options: PipelineOptions,
  streams: Streams,
  command: (pipelines: readonly Pipeline[]) => Promise<number>,
): Promise<number> {
  return atChosen(
    options,
    streams,
    (config) => {
      const pipelines =
        options.pipeline === undefined ? config.pipelines : [choosePipeline(config, options.pipeline)];
      pipelines.forEach(mustBeOpen);
      return { pipelines, part: pipelines };
    },
    command,
  );
}

/** A config may bring an older copy of the packages, whose pipelines show nothing of themselves. */
function mustBeOpen(pipeline: Pipeline): void {
  const { source, offsets } = pipeline as Partial<Pipeline>;
  if (source !== undefined && offsets !== undefined) return;
  throw cliError(
    'CLI_CONFIG_INVALID',
    `The pipeline ${pipeline.name} was made by a version of strandline that can't be looked at from outside.`,
    'Install the version of this command beside the config.',
  );
}
