import type { Pipeline, PipelineDesk } from '@strandline/pipeline';
import { cliError } from '../errors.js';
import type { ReadConfig } from '../read-config.js';

export interface ChosenPipeline {
  readonly pipeline: Pipeline;
  readonly desk: PipelineDesk;
}

/** The pipeline that is meant. Throws `CLI_PIPELINE` and `CLI_NO_DEAD_LETTERS`. */
export function choosePipeline({ file, pipelines }: ReadConfig, name: string | undefined): ChosenPipeline {
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
  // A config may bring an older copy of the packages, whose pipelines know nothing of this.
  const { deadLetters: desk } = pipeline as Partial<Pipeline>;
  if (desk === undefined || desk === null) {
    throw cliError(
      'CLI_NO_DEAD_LETTERS',
      `The pipeline ${pipeline.name} keeps no dead letters.`,
      'Give it a place for them: deadLetters: deadLetters({ postgres: { url } }), or { mysql: { url } }.',
    );
  }
  return { pipeline, desk };
}
