import type { Pipeline } from '@strandline/pipeline';
import { cliError } from './errors.js';
import type { ReadConfig } from './read-config.js';

/** The pipeline that is meant: the one that is named, or the only one. Throws `CLI_PIPELINE`. */
export function choosePipeline({ file, pipelines }: ReadConfig, name: string | undefined): Pipeline {
  const names = pipelines.map((pipeline) => pipeline.name).join(', ');
  const [first, ...others] = pipelines;
  if (name === undefined && others.length > 0)
    throw cliError('CLI_PIPELINE', `${file} has several pipelines.`, `Name one with --pipeline: ${names}.`);
  const pipeline = name === undefined ? first : pipelines.find((one) => one.name === name);
  if (pipeline === undefined)
    throw cliError(
      'CLI_PIPELINE',
      `${file} has no pipeline by the name ${String(name)}.`,
      `It has ${names}.`,
    );
  return pipeline;
}
