import { Option, type Command } from 'commander';
import { exitCodes } from '../exit-codes.js';
import { describeError, isStrandlineError } from '../print-error.js';
import { written, type Streams } from '../streams.js';

const HELP = `
It asks the process that runs with --admin (or STRANDLINE_ADMIN) at the same address: made for the health check of a
container. It loads no config.

Exit codes:
  0    the process is well
  1    it is not, or does not answer: the answer has the reasons
  2    wrong arguments
`;

const PROBES = ['livez', 'readyz', 'healthz'] as const;

interface HealthOptions {
  readonly admin: string;
  readonly probe: (typeof PROBES)[number];
}

/** Adds `health`. */
export function addHealth(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  program
    .command('health')
    .description('ask a running process how it is')
    .addOption(
      new Option('--admin <address>', 'as it was given to run').env('STRANDLINE_ADMIN').default('9464'),
    )
    .addOption(new Option('--probe <name>', 'what to ask').choices(PROBES).default('healthz'))
    .addHelpText('after', HELP)
    .action(async ({ admin, probe }: HealthOptions) => {
      // What serves HTTP is loaded with it.
      const { askHealth } = await import('./ask.js');
      try {
        const { well, text } = await askHealth(admin, probe);
        await written(streams.stdout, `${text}\n`);
        ended(well ? exitCodes.stopped : exitCodes.fault);
      } catch (error) {
        streams.stderr.write(describeError(error, { verbose: false }));
        ended(isStrandlineError(error) && error.code === 'ADMIN_CONFIG' ? exitCodes.usage : exitCodes.fault);
      }
    });
}
