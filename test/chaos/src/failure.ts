import { commandOf } from './arguments.js';
import type { Outcome } from './run.js';
import type { Fault } from './verdict.js';
import { textOf } from './figures.js';

/** Findings of one kind that are printed in full; a first one is often the cause of all others. */
const MOST = 2;
/** Milliseconds of the timeline around a finding. */
const AROUND = 15_000;

/** Of each log. */
const LINES = 25;
const WIDTH = 600;

/** All that is known of a run that failed, and the command that repeats it. */
export function failureText(outcome: Outcome): string {
  const { plan, faults, figures, logs } = outcome;
  const { minutes, seed, setup } = plan;
  const kinds = [...new Set(faults.map(({ kind }) => kind))].map((kind) =>
    faults.filter((fault) => fault.kind === kind),
  );
  return [
    `CHAOS on ${setup.database}: ${String(faults.length)} findings. Again:`,
    `  ${commandOf(minutes, seed, setup.database)}`,
    ...kinds.flatMap((ofKind) => [
      ...ofKind.slice(0, MOST).map((fault) => findingText(fault, outcome)),
      ...(ofKind.length > MOST ? [`and ${String(ofKind.length - MOST)} more of these`] : []),
    ]),
    'Figures:',
    textOf(figures),
    ...[...logs].map(([run, log]) => `The end of what run ${String(run)} said:\n${tailOf(log)}`),
  ].join('\n\n');
}

/** Without what handlers are made to say all the time. */
function tailOf(log: string): string {
  const lines = log
    .trimEnd()
    .split('\n')
    .filter((line) => !line.includes('handler failed: trying again'));
  return lines
    .slice(-LINES)
    .map((line) => line.slice(0, WIDTH))
    .join('\n');
}

function findingText({ kind, says, excerpt, at }: Fault, { timeline }: Outcome): string {
  const when = at === null ? '' : ` (${timeline.seconds(at)})`;
  const around = at === null ? [] : timeline.excerpt(at - AROUND, at + AROUND);
  return [
    `${kind}${when}: ${says}`,
    ...excerpt.split('\n').filter((line) => line !== ''),
    ...(around.length > 0 ? ['Around it:'] : []),
    ...around.map((line) => `  ${line}`),
  ].join('\n');
}
