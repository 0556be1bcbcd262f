import { endAtCrash } from '../crashes.js';
import { exitCodes } from '../exit-codes.js';
import { createLog, isVerbose, type LogLevel } from '../log.js';
import { describeError } from '../print-error.js';
import { readConfig, type Report } from '../read-config.js';
import { untilStopped } from '../signals.js';
import { supervise } from '../supervise.js';

export interface RunOptions {
  /** As it was typed, relative to the working directory. */
  readonly config: string | undefined;
  readonly level: LogLevel;
}

/** Runs the pipelines of a config until a signal or a fault; resolves with the exit code. */
export async function run({ config, level }: RunOptions): Promise<number> {
  // The loggers of the pipelines are made inside the config: the environment is what they and we both see.
  process.env['LOG_LEVEL'] = level;
  const verbose = isVerbose(level);
  const report: Report = (error, where) => {
    process.stderr.write(describeError(error, { where, verbose }));
  };
  endAtCrash();

  const found = await readConfig(config, report);
  if (found === null) return exitCodes.usage;
  const { pipelines } = found;

  const failures = await supervise({ pipelines, stop: untilStopped(), log: createLog(level) });
  for (const { pipeline, error } of failures) report(error, `pipeline ${pipeline}`);
  return failures.length === 0 ? exitCodes.stopped : exitCodes.fault;
}
