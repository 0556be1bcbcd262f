import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseDuration } from '../duration.js';
import { exitCodesHelp } from '../exit-codes.js';
import { configNames } from '../find-config.js';
import { defaultLevel, parseLevel, type LogLevel } from '../log.js';

const HELP = `
The config is looked for in this order:
  ${configNames.join('\n  ')}
Its default export is what definePipeline({ … }) returns, or a list of such pipelines.

Ctrl-C or SIGTERM stops reading, lets what is in flight end, saves the offsets and exits; a second one exits at
once. Logs are JSON lines on stderr; nothing is written to stdout.
${exitCodesHelp}`;

interface RunCommandOptions {
  readonly config?: string;
  readonly pipeline?: readonly string[];
  readonly admin?: string;
  readonly stalledAfter: number;
  readonly adminReadOnly?: true;
  readonly logLevel: LogLevel;
  readonly verbose?: true;
}

/** Adds `run`. */
export function addRun(program: Command, ended: (exitCode: number) => void): void {
  program
    .command('run')
    .description('run the pipelines of a config until SIGTERM or Ctrl-C')
    .option(
      '-c, --config <file>',
      `the config (default: that of STRANDLINE_CONFIG, or ${configNames[0]}, see below)`,
    )
    .option('-p, --pipeline <name>', 'only this pipeline of the config; may be given several times', also)
    .addOption(
      new Option(
        '--admin <address>',
        'health, metrics and API over HTTP: 9464 for this machine only, 0.0.0.0:9464 for others (the API then with STRANDLINE_ADMIN_TOKEN)',
      ).env('STRANDLINE_ADMIN'),
    )
    .option('--admin-read-only', 'nothing can be changed over HTTP')
    .addOption(
      new Option('--stalled-after <duration>', '/healthz fails after so long with work and without progress')
        .argParser(parseStalledAfter)
        .default(60_000, '1m'),
    )
    .addOption(
      new Option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
        .env('LOG_LEVEL')
        .argParser(parseLevel)
        .default(defaultLevel),
    )
    .option('--verbose', 'the same as --log-level debug; errors come with their stacks')
    .addHelpText('after', HELP)
    .action(
      async ({
        config,
        pipeline,
        admin,
        stalledAfter,
        adminReadOnly,
        logLevel,
        verbose,
      }: RunCommandOptions) => {
        // The servers behind it take as long to load as the rest of the command.
        const { run } = await import('./run.js');
        const level = verbose === true ? 'debug' : logLevel;
        const readOnly = adminReadOnly === true;
        ended(await run({ config, pipelines: pipeline ?? [], admin, stalledAfter, readOnly, level }));
      },
    );
}

function also(name: string, names: readonly string[] = []): readonly string[] {
  return [...names, name];
}

function parseStalledAfter(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds < 1_000)
    throw new InvalidArgumentError('It is a second at least: looks are a second apart.');
  return milliseconds;
}
