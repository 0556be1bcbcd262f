import type { Pipeline } from '@strandline/pipeline';
import { exitCodes } from './exit-codes.js';
import type { PipelineOptions } from './options.js';
import { describeError } from './print-error.js';
import { readConfig, type ReadConfig, type Report } from './read-config.js';
import { isBrokenPipe, type Streams } from './streams.js';

/** What of a config a command works with. */
export interface Chosen<T> {
  /** They are stopped when the command has ended: that closes what it has used of them. */
  readonly pipelines: readonly Pipeline[];
  readonly part: T;
}

/**
 * Runs a command on pipelines of the config, which are not started. Resolves with the exit code: the command's own, or
 * that of what it has thrown.
 *
 * @param choose what it throws is a wrong config
 */
export async function atChosen<T>(
  options: PipelineOptions,
  streams: Streams,
  choose: (config: ReadConfig) => Chosen<T>,
  command: (part: T) => Promise<number>,
): Promise<number> {
  const report: Report = (error, where) => {
    streams.stderr.write(describeError(error, { where, verbose: options.verbose === true }));
  };
  const config = await readConfig(options.config, report);
  if (config === null) return exitCodes.usage;
  let chosen: Chosen<T>;
  try {
    chosen = choose(config);
  } catch (error) {
    report(error);
    return exitCodes.usage;
  }
  const { pipelines, part } = chosen;
  // Every write of an answer is awaited, and fails by itself.
  streams.stdout.on?.('error', () => undefined);
  try {
    return await command(part);
  } catch (error) {
    if (isBrokenPipe(error)) return exitCodes.stopped;
    report(error, `pipeline ${pipelines.map(({ name }) => name).join(', ')}`);
    return exitCodes.fault;
  } finally {
    // What was asked for is done or has failed by now: a connection that does not close well changes nothing.
    await Promise.all(pipelines.map((pipeline) => pipeline.stop().catch(() => undefined)));
  }
}
