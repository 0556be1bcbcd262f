import type { Pipeline, PipelineDesk } from '@strandline/pipeline';
import { atPipeline } from '../at-pipeline.js';
import { cliError } from '../errors.js';
import type { PipelineOptions } from '../options.js';
import type { Streams } from '../streams.js';

/** What a command works with: the dead letters of one pipeline, and where its answer goes. */
export interface Desk {
  readonly pipeline: string;
  readonly letters: PipelineDesk;
  readonly streams: Streams;
}

/** Runs a command on the dead letters of the pipeline that is meant; resolves with the exit code. */
export function atDesk(
  options: PipelineOptions,
  streams: Streams,
  command: (desk: Desk) => Promise<void>,
): Promise<number> {
  return atPipeline(options, streams, lettersOf, (letters, { name }) =>
    command({ pipeline: name, letters, streams }),
  );
}

/** Throws `CLI_NO_DEAD_LETTERS`. */
function lettersOf(pipeline: Pipeline): PipelineDesk {
  // A config may bring an older copy of the packages, whose pipelines know nothing of this.
  const { deadLetters } = pipeline as Partial<Pipeline>;
  if (deadLetters !== undefined && deadLetters !== null) return deadLetters;
  throw cliError(
    'CLI_NO_DEAD_LETTERS',
    `The pipeline ${pipeline.name} keeps no dead letters.`,
    'Give it a place for them: deadLetters: deadLetters({ postgres: { url } }), or { mysql: { url } }.',
  );
}
