import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { found } from './found.js';
import { play } from './play.js';
import { drawScenario, type Scenario } from './scenario.js';
import { playFound, type Figures } from './schedules.js';
import { shrunk } from './shrink.js';
import { playOnThreads } from './threads.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    runs: { type: 'string', default: '100000' },
    threads: { type: 'string', default: String(availableParallelism()) },
    /** Plays the schedules that were found once, and no others. */
    found: { type: 'boolean', default: false },
    /** Prints the figures as JSON, and nothing else. */
    json: { type: 'boolean', default: false },
  },
});

const seed = wholeNumber('seed', values.seed, 0);
const runs = wholeNumber('runs', values.runs, 1);
const threads = wholeNumber('threads', values.threads, 1);
const began = process.hrtime.bigint();

const figures = values.found
  ? await playFound()
  : await playOnThreads(seed, runs, threads, values.json ? undefined : progress);
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
if (values.json) print(JSON.stringify({ seed, seconds, ...figures }));
else await report();
process.exitCode = figures.broken.length === 0 ? 0 : 1;

function progress({ runs: played }: Figures): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${String(played)} of ${String(runs)}`);
}

async function report(): Promise<void> {
  const { seen, faults, rows, broken } = figures;
  const struck = Object.entries(faults).map(([kind, count]) => `${kind} ${String(count)}`);
  print(
    '',
    `${String(figures.runs)} schedules from seed ${String(seed)} in ${seconds.toFixed(1)} s: ${String(Math.round(figures.runs / seconds))} a second`,
    `${String(rows)} rows, ${String(seen.starts)} handler calls, ${String(seen.redelivered)} of them again after a fault, ${String(seen.parked)} letters, ${String(seen.terms)} terms of ownership`,
    `faults: ${struck.join(', ')}`,
    `broken promises: ${String(broken.length)}`,
  );
  for (const { seed: one, name, error } of broken)
    print(
      `\n${name ?? `seed ${String(one)}`}: ${error}`,
      `again: npm run simulate -- ${name === undefined ? `--seed ${String(one)} --runs 1` : '--found'}`,
    );
  const [first] = broken;
  if (first !== undefined)
    await explain(found.find(({ name }) => name === first.name)?.scenario ?? drawScenario(first.seed));
}

/** The smallest schedule that is broken in the same way. */
async function explain(broken: Scenario): Promise<void> {
  // The clock of this thread is the schedule's from here on.
  const smallest = await shrunk(broken);
  const story: string[] = [];
  Error.stackTraceLimit = 20;
  const { error } = await play(smallest, (line) => story.push(line));
  print(`\nseed ${String(broken.seed)}, made smaller: ${error?.message ?? 'nothing is broken any more'}`);
  if (error?.cause instanceof Error) print(error.cause.stack ?? '');
  print(JSON.stringify(smallest), ...story);
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function wholeNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return number;
  process.stderr.write(`--${name} takes a whole number from ${String(least)} on, not ${text}.\n`);
  process.exit(2);
}
