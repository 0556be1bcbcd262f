import { randomInt } from 'node:crypto';
import { ServerError } from '@strandline/servers';
import { commandOf, parseArguments, UsageError, USAGE, type ChaosArguments } from './arguments.js';
import { failureText } from './failure.js';
import { textOf } from './figures.js';
import type { DatabaseName } from './names.js';
import { drawPlan } from './plan.js';
import { runPlan, type Outcome } from './run.js';
import { FAILED_SEEDS } from './seeds.js';

/** 2 is what shells and getopt programs answer to arguments that they don't know. */
const USAGE_EXIT_CODE = 2;
/** A longer run is several of this length, on servers of their own and with the seeds that follow: each can be repeated alone. */
const LONGEST = 10;

interface Round {
  readonly seed: number;
  readonly minutes: number;
  readonly database: DatabaseName;
}

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  if (parsed.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const outcomes: Outcome[] = [];
  for (const round of parsed.failed ? FAILED_SEEDS : roundsOf(parsed)) {
    process.stderr.write(`${commandOf(round.minutes, round.seed, round.database)}\n`);
    const outcome = await runPlan(drawPlan(round.seed, round.minutes, round.database));
    outcomes.push(outcome);
    if (outcome.faults.length > 0) process.stderr.write(`\n${failureText(outcome)}\n\n`);
    if (!parsed.json) process.stdout.write(`${headOf(outcome)}\n${textOf(outcome.figures)}\n`);
  }
  if (parsed.json) process.stdout.write(`${JSON.stringify(outcomes.map(recordOf))}\n`);
  return outcomes.some(({ faults }) => faults.length > 0) ? 1 : 0;
}

function roundsOf({ minutes, seed, databases }: ChaosArguments): Round[] {
  const first = seed ?? randomInt(2 ** 31 - 1);
  const count = Math.ceil(minutes / LONGEST);
  return Array.from({ length: count }, (_, index) => ({
    seed: first + index,
    minutes: minutes / count,
  })).flatMap((round) => databases.map((database) => ({ ...round, database })));
}

function headOf({ plan, faults }: Outcome): string {
  const { seed, minutes, setup } = plan;
  const verdict = faults.length === 0 ? 'nothing wrong' : `${String(faults.length)} FINDINGS`;
  return `${setup.database}, seed ${String(seed)}, ${String(minutes)} min: ${verdict}`;
}

function recordOf({ plan, figures, faults }: Outcome): object {
  const { seed, minutes, setup } = plan;
  return { database: setup.database, seed, minutes, figures, faults };
}

function report(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  const isKnown = error instanceof ServerError;
  const text = !(error instanceof Error)
    ? String(error)
    : isKnown
      ? error.message
      : (error.stack ?? error.message);
  process.stderr.write(`The run could not be carried out: ${text}\n`);
  return 1;
}

process.exitCode = await main(process.argv.slice(2)).catch(report);
