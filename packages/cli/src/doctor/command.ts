import type { Command } from 'commander';
import { atPipelines } from '../at-pipelines.js';
import { exitCodes } from '../exit-codes.js';
import { inkFor } from '../ink.js';
import { withJson, withPipeline, type PipelineOptions } from '../options.js';
import { written, type Streams } from '../streams.js';
import { json } from '../text.js';
import { examine } from './examine.js';
import { examinationText, summaryText } from './text.js';

const HELP = `
It asks the servers behind the source, the offset store, the dead letters and the handler how they are set up, and
touches nothing. The pipelines need not run. What may not be asked is a warning that names the missing grant.

Exit codes:
  0    nothing failed; warnings may have been given
  1    something failed: see the lines with fail
  2    wrong arguments, or a wrong config
`;

interface DoctorOptions extends PipelineOptions {
  readonly onlyProblems?: true;
}

/** Adds `doctor`. */
export function addDoctor(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  withJson(withPipeline(program.command('doctor')))
    .option('--only-problems', 'leave out what passed')
    .description('check whether the servers keep what a pipeline needs, and tell what to change')
    .addHelpText('after', HELP)
    .action(async (options: DoctorOptions) => {
      ended(
        await atPipelines(options, streams, async (pipelines) => {
          const examinations = await Promise.all(pipelines.map(examine));
          const ink = inkFor(streams.stdout);
          const onlyProblems = options.onlyProblems === true;
          const texts = examinations.map((one) => examinationText(one, ink, onlyProblems));
          await written(
            streams.stdout,
            options.json === true
              ? json({ pipelines: examinations })
              : `${texts.join('\n')}\n${summaryText(examinations)}`,
          );
          const failed = examinations.some(({ findings }) =>
            findings.some(({ result }) => result === 'fail'),
          );
          return failed ? exitCodes.fault : exitCodes.stopped;
        }),
      );
    });
}
