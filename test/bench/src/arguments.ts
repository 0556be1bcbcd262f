import { parseArgs } from 'node:util';
import { BENCHMARK_NAMES, type BenchmarkName } from './benchmarks/benchmarks.js';
import { DATABASES, type DatabaseName } from './databases/names.js';
import { OFFSETS, type OffsetsKind } from './readers/pipeline-parts.js';
import { UsageError } from './usage.js';
import { WORKLOAD_NAMES } from './workloads/workloads.js';

/** What a report is printed as: tables as they come, or all of it at the end. */
export type OutputFormat = 'tables' | 'json' | 'markdown';

export interface BenchArguments {
  readonly database: DatabaseName;
  /** Rows of a backlog; the other benchmarks' amounts are derived from it. */
  readonly rows: number;
  /** Rows of the long backlog that memory is watched over. */
  readonly memoryRows: number;
  readonly rounds: number;
  readonly only: readonly BenchmarkName[];
  /** Of drain, keys and handlers; empty for all. */
  readonly workloads: readonly string[];
  readonly offsets: OffsetsKind;
  readonly format: OutputFormat;
  readonly help: boolean;
}

const MEMORY_ROWS = 10;

/** Throws a UsageError with option, value and rule. */
export function parseArguments(args: readonly string[]): BenchArguments {
  const { values } = parse(args);
  if (values.json && values.markdown) throw new UsageError('--json and --markdown exclude each other.');
  const rows = integer('rows', values.rows, 1_000, 10_000_000);
  const memoryRows = values['memory-rows'] ?? String(MEMORY_ROWS * rows);
  const only = values.only?.map((name) => oneOf('only', name, BENCHMARK_NAMES)) ?? BENCHMARK_NAMES;
  return {
    database: oneOf('database', values.database, DATABASES),
    rows,
    memoryRows: integer('memory-rows', memoryRows, 1_000, 100_000_000),
    rounds: integer('rounds', values.rounds, 1, 99),
    // In the order in which they run, and each once.
    only: BENCHMARK_NAMES.filter((name) => only.includes(name)),
    workloads: (values.workload ?? []).map((name) => oneOf('workload', name, WORKLOAD_NAMES)),
    offsets: oneOf('offsets', values.offsets, OFFSETS),
    format: values.json ? 'json' : values.markdown ? 'markdown' : 'tables',
    help: values.help,
  };
}

function integer(name: string, text: string, least: number, most: number): number {
  const value = Number(text.replaceAll(',', ''));
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(
    `--${name} is ${text}; it must be a whole number from ${String(least)} to ${String(most)}.`,
  );
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new UsageError(`--${name} is ${text}; it must be one of ${allowed.join(', ')}.`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        database: { type: 'string', default: 'postgres' },
        rows: { type: 'string', default: '200000' },
        'memory-rows': { type: 'string' },
        rounds: { type: 'string', default: '5' },
        only: { type: 'string', multiple: true },
        workload: { type: 'string', multiple: true },
        offsets: { type: 'string', default: 'redis' },
        json: { type: 'boolean', default: false },
        markdown: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
