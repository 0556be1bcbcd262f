import { parseAddress, type Address } from '@strandline/admin';
import type { Pipeline } from '@strandline/pipeline';
import type { Logger } from '@strandline/core';
import { choosePipeline } from '../choose-pipeline.js';
import { endAtCrash } from '../crashes.js';
import { exitCodes } from '../exit-codes.js';
import { createLog, isVerbose, type LogLevel } from '../log.js';
import { describeError } from '../print-error.js';
import { readConfig, type ReadConfig, type Report } from '../read-config.js';
import { untilStopped } from '../signals.js';
import { supervise, type Failure } from '../supervise.js';

export interface RunOptions {
  /** As it was typed, relative to the working directory. */
  readonly config: string | undefined;
  /** Which pipelines of the config; all of them when none is named. */
  readonly pipelines: readonly string[];
  /** Where health is told, as it was typed; nowhere when it is left out. */
  readonly admin: string | undefined;
  /** Milliseconds with work and without progress from which on `/healthz` fails. */
  readonly stalledAfter: number;
  /** Nothing can be changed over HTTP. */
  readonly readOnly: boolean;
  readonly level: LogLevel;
}

/** Runs the pipelines of a config until a signal or a fault; resolves with the exit code. */
export async function run(options: RunOptions): Promise<number> {
  const { config, level } = options;
  // The loggers of the pipelines are made inside the config: the environment is what they and we both see.
  process.env['LOG_LEVEL'] = level;
  const verbose = isVerbose(level);
  const report: Report = (error, where) => {
    process.stderr.write(describeError(error, { where, verbose }));
  };
  endAtCrash();

  const found = await readConfig(config, report);
  if (found === null) return exitCodes.usage;
  let pipelines: readonly Pipeline[];
  let address: Address | undefined;
  try {
    pipelines = chosenOf(found, options.pipelines);
    address = options.admin === undefined ? undefined : parseAddress(options.admin);
  } catch (error) {
    report(error);
    return exitCodes.usage;
  }

  const log = createLog(level);
  try {
    const failures = await serve(pipelines, address, options, log);
    for (const { pipeline, error } of failures) report(error, `pipeline ${pipeline}`);
    return failures.length === 0 ? exitCodes.stopped : exitCodes.fault;
  } catch (error) {
    report(error);
    return exitCodes.fault;
  }
}

function chosenOf(found: ReadConfig, names: readonly string[]): readonly Pipeline[] {
  if (names.length === 0) return found.pipelines;
  return [...new Set(names)].map((name) => choosePipeline(found, name));
}

/** It can be looked at from before the pipelines start until they have stopped. */
async function serve(
  pipelines: readonly Pipeline[],
  address: Address | undefined,
  { stalledAfter, readOnly }: RunOptions,
  log: Logger,
): Promise<readonly Failure[]> {
  const stop = untilStopped();
  if (address === undefined) return supervise({ pipelines, stop, log });
  const { startAdmin } = await import('../admin/start-admin.js');
  await using admin = await startAdmin({ pipelines, address, log, stalledAfter, readOnly });
  log.info(
    { url: admin.url, console: admin.hasConsole },
    admin.hasConsole
      ? 'console, API, metrics and health are served here'
      : 'metrics and health are served here',
  );
  return await supervise({ pipelines, stop, log });
}
