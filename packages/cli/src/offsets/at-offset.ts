import type { OffsetDesk, Pipeline } from '@strandline/pipeline';
import { cliError } from '../errors.js';
import type { PipelineOptions } from '../options.js';
import type { Streams } from '../streams.js';

/** What a command works with: the offset of one pipeline, and where its answer goes. */
export interface AtOffset {
  readonly pipeline: string;
  readonly desk: OffsetDesk;
  readonly streams: Streams;
}

export interface ChangeOptions extends PipelineOptions {
  readonly yes?: true;
}

/** Throws `CLI_PIPELINE` for a pipeline of an older copy of the packages, which a config may bring. */
export function offsetOf(pipeline: Pipeline): OffsetDesk {
  const { offset } = pipeline as Partial<Pipeline>;
  if (offset !== undefined) return offset;
  throw cliError(
    'CLI_PIPELINE',
    `The pipeline ${pipeline.name} is of an older release, whose offset can't be changed from outside.`,
    'Update the package strandline that the config imports.',
  );
}
