import type { Command } from 'commander';
import type { Pipeline } from '@strandline/pipeline';
import { atPipelines } from '../at-pipelines.js';
import { exitCodes } from '../exit-codes.js';
import { inkFor } from '../ink.js';
import { withJson, withPipeline, type PipelineOptions } from '../options.js';
import { untilStopped } from '../signals.js';
import { written, type Streams } from '../streams.js';
import { json } from '../text.js';
import { lookAtPipeline } from './look.js';
import { reportOf, type StatusReport } from './report.js';
import { statusText } from './text.js';

interface StatusOptions extends PipelineOptions {
  readonly watch?: true;
}

const HELP = `
It works from anywhere that reaches the offset store and the source, whether the pipelines run or not, and touches
nothing. What can't be asked is named, and the rest is shown. The owner tells about once a second how it is.

Exit codes:
  0    every pipeline has an owner, at work or idle
  1    one has none, or one of its places can't be reached, or keys hold its log until somebody acts: see the lines with !
  2    wrong arguments, or a wrong config
`;

/** Adds `status`. */
export function addStatus(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  withJson(withPipeline(program.command('status')))
    .description('tell who runs a pipeline, how far it is, and what holds it up')
    .option('-w, --watch', 'look again every second, until Ctrl-C')
    .addHelpText('after', HELP)
    .action(async (options: StatusOptions) => {
      ended(await atPipelines(options, streams, (pipelines) => status(pipelines, options, streams)));
    });
}

async function status(
  pipelines: readonly Pipeline[],
  options: StatusOptions,
  { stdout }: Streams,
): Promise<number> {
  const isTerminal = stdout.isTTY === true;
  const ink = inkFor(stdout);
  const look = (): Promise<StatusReport[]> =>
    Promise.all(pipelines.map(async (pipeline) => reportOf(await lookAtPipeline(pipeline))));
  const text = (reports: readonly StatusReport[]): string =>
    options.json === true
      ? json({ pipelines: reports })
      : reports.map((report) => statusText(report, ink)).join('\n');

  let reports: StatusReport[];
  if (options.watch === true) {
    // What draws on a terminal takes as long to load as the rest of the command.
    const { createBoard, watch } = await import('./watch.js');
    const board = createBoard(stdout, isTerminal && options.json !== true);
    reports = await watch(async () => {
      const found = await look();
      await board.show(text(found), found);
      return found;
    }, untilStopped());
    board.done();
  } else {
    reports = await look();
    await written(stdout, text(reports));
  }
  return reports.every(({ problems }) => problems.length === 0) ? exitCodes.stopped : exitCodes.fault;
}
