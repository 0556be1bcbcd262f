import { ServerError } from '@strandline/servers';
import { parseArguments, type BenchArguments } from './arguments.js';
import { BENCHMARKS } from './benchmarks/benchmarks.js';
import { openOffsetsPlace } from './benchmarks/offsets-place.js';
import { startDatabase } from './databases/start.js';
import { FaultError } from './readers/check.js';
import type { Findings } from './report/figure.js';
import { judge } from './report/judgement.js';
import { toJson } from './report/json.js';
import { describeMachine } from './report/machine.js';
import { toMarkdown } from './report/markdown.js';
import type { Report } from './report/report.js';
import { toClosing, toTable } from './report/table.js';
import { USAGE, UsageError } from './usage.js';

/** 2 is what shells and getopt programs answer to arguments that they don't know. */
const USAGE_EXIT_CODE = 2;

async function main(args: readonly string[]): Promise<number> {
  const options = parseArguments(args);
  if (options.help) process.stdout.write(USAGE);
  else print(await run(options));
  return 0;
}

async function run(options: BenchArguments): Promise<Report> {
  const { database: name, only, offsets, format, ...amounts } = options;
  await using database = await startDatabase(name);
  await using place = await openOffsetsPlace(offsets);
  const machine = await describeMachine({ ...database.versions, ...place.versions });
  const progress = (text: string): void => void process.stderr.write(`${text}\n`);
  const stage = { ...amounts, database, offsets: place.settings, progress };
  const findings: Findings[] = [];
  for (const part of only) {
    const found = await BENCHMARKS[part].run(stage);
    findings.push(found);
    if (format === 'tables') process.stdout.write(`\n${toTable(found)}\n`);
  }
  return { machine, options, findings, goals: judge(name, findings) };
}

function print(report: Report): void {
  switch (report.options.format) {
    case 'tables':
      process.stdout.write(`\n${toClosing(report.machine, report.goals)}`);
      break;
    case 'json':
      process.stdout.write(`${toJson(report)}\n`);
      break;
    case 'markdown':
      process.stdout.write(toMarkdown(report));
      break;
  }
}

function report(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  if (error instanceof FaultError) {
    process.stderr.write(`FAULT: ${error.message}\nThere is no figure for a reader that is wrong.\n`);
    return 1;
  }
  const known = error instanceof ServerError;
  const text = !(error instanceof Error)
    ? String(error)
    : known
      ? error.message
      : (error.stack ?? error.message);
  process.stderr.write(`The benchmark failed: ${text}\n`);
  return 1;
}

process.exitCode = await main(process.argv.slice(2)).catch(report);
