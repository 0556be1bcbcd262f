import { ServerError } from '@strandline/servers';
import { parseArguments, UsageError, USAGE, type BenchArguments, type BenchmarkName } from './arguments.js';
import { drain } from './benchmarks/drain.js';
import { failures } from './benchmarks/failures.js';
import { isolation } from './benchmarks/isolation.js';
import { latency } from './benchmarks/latency.js';
import { memory } from './benchmarks/memory.js';
import { openOffsetsPlace } from './benchmarks/offsets-place.js';
import { peers } from './benchmarks/peers.js';
import { promises } from './benchmarks/promises.js';
import { release } from './benchmarks/release.js';
import type { Stage } from './benchmarks/stage.js';
import { startDatabase } from './databases/start.js';
import { FaultError } from './readers/check.js';
import type { Findings } from './report/figure.js';
import { toJson } from './report/json.js';
import { toTable } from './report/table.js';

/** 2 is what shells and getopt programs answer to arguments that they don't know. */
const USAGE_EXIT_CODE = 2;

const RUN: Readonly<Record<BenchmarkName, (stage: Stage) => Promise<Findings>>> = {
  drain,
  latency,
  memory,
  isolation,
  failures,
  release,
  peers,
  promises,
};

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  if (parsed.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  await run(parsed);
  return 0;
}

async function run({ database: name, rows, rounds, only, offsets, json }: BenchArguments): Promise<void> {
  await using database = await startDatabase(name);
  await using place = await openOffsetsPlace(offsets);
  const progress = (text: string): void => void process.stderr.write(`${text}\n`);
  const stage = { database, offsets: place.settings, rows, rounds, progress };
  const all: Findings[] = [];
  for (const benchmark of only) {
    const findings = await RUN[benchmark](stage);
    all.push(findings);
    if (!json) process.stdout.write(`\n${toTable(findings)}\n`);
  }
  if (json) process.stdout.write(`${toJson(all)}\n`);
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
