import type { PipelineDesk } from '@strandline/pipeline';
import { exitCodes } from '../exit-codes.js';
import { describeError } from '../print-error.js';
import { readConfig, type Report } from '../read-config.js';
import type { Streams } from '../streams.js';
import { choosePipeline, type ChosenPipeline } from './choose-pipeline.js';
import type { DeskOptions } from './options.js';

/** What a command works with: the dead letters of one pipeline, and where its answer goes. */
export interface Desk {
  readonly pipeline: string;
  readonly letters: PipelineDesk;
  readonly streams: Streams;
}

/** Runs a command on the dead letters of the pipeline that is meant, which is not started; resolves with the exit code. */
export async function atDesk(
  options: DeskOptions,
  streams: Streams,
  command: (desk: Desk) => Promise<void>,
): Promise<number> {
  const report: Report = (error, where) => {
    streams.stderr.write(describeError(error, { where, verbose: options.verbose === true }));
  };
  const config = await readConfig(options.config, report);
  if (config === null) return exitCodes.usage;
  let chosen: ChosenPipeline;
  try {
    chosen = choosePipeline(config, options.pipeline);
  } catch (error) {
    report(error);
    return exitCodes.usage;
  }
  const { pipeline, desk } = chosen;
  // Every write of an answer is awaited, and fails by itself.
  streams.stdout.on?.('error', () => undefined);
  try {
    await command({ pipeline: pipeline.name, letters: desk, streams });
    return exitCodes.stopped;
  } catch (error) {
    // The reader has gone: `head` has seen what it wanted to see.
    if (isBrokenPipe(error)) return exitCodes.stopped;
    report(error, `pipeline ${pipeline.name}`);
    return exitCodes.fault;
  } finally {
    // What was asked for is done or has failed by now: a connection that does not close well changes nothing.
    await pipeline.stop().catch(() => undefined);
  }
}

function isBrokenPipe(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'EPIPE';
}
