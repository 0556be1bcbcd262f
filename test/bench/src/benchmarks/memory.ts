import { check } from '../readers/check.js';
import type { StrandlineReading } from '../readers/strandline.js';
import type { MemorySample, MemoryUse } from '../readers/memory-sampler.js';
import type { Findings } from '../report/figure.js';
import { readerOf, strandline, type Stage } from './stage.js';

const KEYS = 5_000;
/** The long backlog, and the one transaction, in multiples of the backlogs' rows: 2,000,000 and 1,000,000. */
const LONG = 10;
const TRANSACTION = 5;
/** MiB that the resident set may move away from where it was after the first `rows` rows. */
const FLAT = { rule: '<', bound: 50 } as const;
const LARGE_TRANSACTION = { rule: '<', bound: 400 } as const;

/** What Strandline holds in memory; each backlog is drained once, by a process that does nothing else. */
export async function memory(stage: Stage): Promise<Findings> {
  const { rows } = stage;
  const long = await measure(stage, 'memory_long', LONG * rows, 10);
  const transaction = await measure(stage, 'memory_transaction', TRANSACTION * rows, TRANSACTION * rows);
  const base = long.samples.find(({ seen }) => seen >= rows)?.rssMib ?? NaN;
  const after = long.samples.filter(({ seen }) => seen >= rows).map(({ rssMib }) => rssMib - base);
  const count = (value: number): string => value.toLocaleString('en-US');
  return {
    benchmark: 'memory',
    about: `${stage.database.label}, resident set of a process that drains; offsets: ${stage.offsets.kind}`,
    figures: [
      { name: `${count(LONG * rows)} rows: after ${count(rows)}`, unit: 'MiB', rounds: [base] },
      {
        name: '  furthest above that from there on',
        unit: 'MiB',
        rounds: [Math.max(0, ...after)],
        goal: FLAT,
      },
      { name: '  furthest below that', unit: 'MiB', rounds: [Math.max(0, ...after.map((mib) => -mib))] },
      { name: '  at the end', unit: 'MiB', rounds: [last(long.samples)] },
      {
        name: `one transaction of ${count(TRANSACTION * rows)} rows: peak`,
        unit: 'MiB',
        rounds: [transaction.peakMib],
        goal: LARGE_TRANSACTION,
      },
      { name: '  at the end', unit: 'MiB', rounds: [last(transaction.samples)] },
    ],
  };
}

async function measure(stage: Stage, name: string, rows: number, perTransaction: number): Promise<MemoryUse> {
  stage.progress(`writing the backlog ${name}`);
  const options = { name, rows, perTransaction, keys: KEYS, payload: 'text' } as const;
  await using backlog = await stage.database.createBacklog(options);
  stage.progress(`draining ${name}`);
  const reading: StrandlineReading = await backlog.withReader((reader) =>
    strandline(stage, readerOf(stage, backlog, reader)),
  );
  check(name, reading, backlog.rowsPerKey);
  return reading.memory;
}

function last(samples: readonly MemorySample[]): number {
  return samples.at(-1)?.rssMib ?? NaN;
}
