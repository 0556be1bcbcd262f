import type { Ansis } from 'ansis';
import type { Progress } from './progress.js';

/** A bar that fills while the writers run. */
const BAR_WIDTH = 30;

/** The live view on a terminal: a few lines, at most 76 columns wide. */
export function blockOf(progress: Progress, ink: Ansis): string {
  const { counts, worker } = progress;
  const label = (text: string) => ink.bold(text.padEnd(12));
  const misses = (count: number) =>
    (count === 0 ? ink.green : ink.red)(`${number(count).padStart(7)} missed`);
  return [
    '',
    `  ${bar(progress, ink)} ${progress.elapsed.toFixed(1)} s  ${ink.dim(phaseOf(progress))}`,
    '',
    `  ${label('shop')}${number(counts.committed).padStart(7)} committed`,
    `  ${label('id cursor')}${number(counts.seen).padStart(7)} seen     ${misses(counts.cursorMissed)}`,
    `  ${label('Strandline')}${number(counts.handled).padStart(7)} handled  ${misses(counts.strandlineMissed)}` +
      ink.dim(`   ${number(counts.committed - counts.handled)} to come`),
    '',
    `  ${label('process')}${processOf(progress, ink)}`,
    `  ${label('')}${ink.dim(`${number(worker?.running ?? 0)} busy strands, ${bytes(worker?.lagBytes)} of log behind`)}`,
    `  ${label('SIGKILL')}${killsOf(progress, ink)}`,
    '',
  ].join('\n');
}

/** The same in one line, for where nothing can be redrawn. */
export function lineOf(progress: Progress): string {
  const { counts, worker } = progress;
  return [
    `${progress.elapsed.toFixed(1).padStart(5)} s`,
    `committed ${number(counts.committed)}`,
    `id cursor: seen ${number(counts.seen)}, missed ${number(counts.cursorMissed)}`,
    `Strandline: handled ${number(counts.handled)}, missed ${number(counts.strandlineMissed)}, ` +
      `lag ${number(counts.committed - counts.handled)} events, busy strands ${number(worker?.running ?? 0)}, ` +
      (worker === undefined ? 'down' : worker.state),
    `kills ${number(progress.kills.length)}/${number(progress.plannedKills)}`,
  ].join(' | ');
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

function bar(progress: Progress, ink: Ansis): string {
  const filled = Math.round(BAR_WIDTH * Math.min(1, progress.elapsed / progress.seconds));
  return ink.cyan('━'.repeat(filled)) + ink.dim('━'.repeat(BAR_WIDTH - filled));
}

function phaseOf(progress: Progress): string {
  if (progress.phase === 'selling') return '8 writers at work';
  return progress.phase === 'draining' ? 'writers done, finishing the rest' : 'done';
}

function processOf({ worker, run, phase }: Progress, ink: Ansis): string {
  const life = `life ${number(run)}`;
  if (phase === 'done') return ink.green(`${life}, drained and ended`);
  if (worker === undefined) return ink.yellow(`${life}, coming up`);
  return (worker.state === 'running' ? ink.green : ink.yellow)(`${life}, ${worker.state}`);
}

function killsOf({ kills, plannedKills, counts }: Progress, ink: Ansis): string {
  const done = kills.map(({ at, backAfter }) => `at ${at.toFixed(1)} s, ${returnOf(backAfter)}`).join('; ');
  const again = kills.length === 0 ? '' : ink.dim(`   ${number(counts.duplicates)} came again`);
  return `${number(kills.length)} of ${number(plannedKills)}${done === '' ? '' : ` (${done})`}${again}`;
}

function returnOf(backAfter: number | undefined): string {
  return backAfter === undefined ? 'down' : `back in ${backAfter.toFixed(1)} s`;
}

function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return '?';
  return value < 1024 ? `${number(value)} B` : `${number(Math.round(value / 1024))} kB`;
}
