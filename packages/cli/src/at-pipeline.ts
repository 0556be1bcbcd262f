import type { Pipeline } from '@strandline/pipeline';
import { atChosen } from './at-chosen.js';
import { choosePipeline } from './choose-pipeline.js';
import { exitCodes } from './exit-codes.js';
import type { PipelineOptions } from './options.js';
import type { Streams } from './streams.js';

/**
 * Runs a command on the pipeline that is meant, which is not started; resolves with the exit code.
 *
 * @param part what the command works with; what it throws is a wrong config
 */
export function atPipeline<T>(
  options: PipelineOptions,
  streams: Streams,
  part: (pipeline: Pipeline) => T,
  command: (part: T, pipeline: Pipeline) => Promise<void>,
): Promise<number> {
  return atChosen(
    options,
    streams,
    (config) => {
      const pipeline = choosePipeline(config, options.pipeline);
      return { pipelines: [pipeline], part: { pipeline, used: part(pipeline) } };
    },
    async ({ pipeline, used }) => {
      await command(used, pipeline);
      return exitCodes.stopped;
    },
  );
}
