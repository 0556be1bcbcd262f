import { goalOf } from '../goals.js';
import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { LiveKeysReading } from '../readers/live-keys.js';
import type { MemorySample, MemoryUse } from '../readers/memory-sampler.js';
import type { Figure, Findings } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { readerOf, written, type Stage } from './stage.js';

const KEYS = 5_000;
/** Where the long backlog's resident set is to stay from: after so much of it. */
const BASE = 0.1;
/** The one transaction has half of the long backlog's rows, and not more than a million. */
const TRANSACTION = 0.5;
const LARGEST_TRANSACTION = 1_000_000;
/** Live keys, in multiples of the backlogs' rows: 200,000 and 1,000,000. */
const LIVE_KEYS = [1, 5] as const;
const MIB = 1024 * 1024;

/** What Strandline holds in memory; each backlog is drained once, by a process that does nothing else. */
export async function memory(stage: Stage): Promise<Findings> {
  const figures = [...(await longBacklog(stage)), ...(await largeTransaction(stage))];
  for (const times of LIVE_KEYS)
    figures.push(...(await liveKeys(stage, times * stage.rows, times === LIVE_KEYS[1])));
  return {
    benchmark: 'memory',
    about: `${stage.database.label}, of a process that reads a backlog; offsets: ${stage.offsets.kind}`,
    figures,
  };
}

async function longBacklog(stage: Stage): Promise<Figure[]> {
  const rows = stage.memoryRows;
  const { samples } = await drained(stage, 'memory_long', rows, 10);
  const counted = samples.filter(({ seen }) => seen >= BASE * rows);
  const base = counted[0]?.rssMib ?? NaN;
  const after = counted.map(({ rssMib }) => rssMib - base);
  return [
    { name: `${grouped(rows)} rows: after ${grouped(BASE * rows)}`, unit: 'MiB', rounds: [base] },
    {
      name: '  furthest above that from there on',
      unit: 'MiB',
      rounds: [Math.max(0, ...after)],
      goal: goalOf('flatMemory', stage.database.name),
    },
    { name: '  furthest below that', unit: 'MiB', rounds: [Math.max(0, ...after.map((mib) => -mib))] },
    { name: '  at the end', unit: 'MiB', rounds: [last(samples)] },
  ];
}

async function largeTransaction(stage: Stage): Promise<Figure[]> {
  const rows = Math.min(LARGEST_TRANSACTION, Math.round(TRANSACTION * stage.memoryRows));
  const { samples, peakMib } = await drained(stage, 'memory_transaction', rows, rows);
  return [
    {
      name: `one transaction of ${grouped(rows)} rows: peak`,
      unit: 'MiB',
      rounds: [peakMib],
      goal: goalOf('largeTransaction', stage.database.name),
    },
    { name: '  at the end', unit: 'MiB', rounds: [last(samples)] },
  ];
}

/** Every row of a key of its own, all of them live at once: their heads have failed and wait for their next attempt. */
async function liveKeys(stage: Stage, rows: number, judged: boolean): Promise<Figure[]> {
  const name = `memory_keys_${String(rows)}`;
  const options = { name, rows, perTransaction: 10, keys: rows, skew: 'own', payload: 'text' } as const;
  await using backlog = await written(stage, options);
  stage.progress(`${name}: reading`);
  const reading = await backlog.withReader(
    (reader) => startJob('liveKeys', { ...readerOf(stage, backlog, reader), offsets: stage.offsets }).result,
  );
  check(name, reading, backlog.rowsPerKey);
  return liveKeysFigures(reading, judged ? stage : null);
}

function liveKeysFigures(reading: LiveKeysReading, judged: Stage | null): Figure[] {
  const { heap, resident } = reading;
  return [
    {
      name: `${grouped(reading.liveKeys)} live keys: heap of each`,
      unit: 'bytes',
      rounds: [((heap.live - heap.before) * MIB) / reading.liveKeys],
    },
    { name: '  heap, above where it began', unit: 'MiB', rounds: [heap.live - heap.before] },
    {
      name: '  heap when idle again, above where it began',
      unit: 'MiB',
      rounds: [heap.idle - heap.before],
      goal: judged === null ? undefined : goalOf('idleHeap', judged.database.name),
    },
    { name: '  resident set, above where it began', unit: 'MiB', rounds: [resident.live - resident.before] },
    {
      name: '  resident set when idle again, above where it began',
      unit: 'MiB',
      rounds: [resident.idle - resident.before],
    },
    { name: '  resident set, peak', unit: 'MiB', rounds: [reading.peakMib] },
  ];
}

async function drained(stage: Stage, name: string, rows: number, perTransaction: number): Promise<MemoryUse> {
  await using backlog = await written(stage, { name, rows, perTransaction, keys: KEYS, payload: 'text' });
  stage.progress(`${name}: draining`);
  const { offsets } = stage;
  const reading = await backlog.withReader((reader) => {
    const common = { ...readerOf(stage, backlog, reader), offsets };
    return startJob('strandline', { ...common, handler: 'async', visibility: 'committed' }).result;
  });
  check(name, reading, backlog.rowsPerKey);
  return reading.memory;
}

function last(samples: readonly MemorySample[]): number {
  return samples.at(-1)?.rssMib ?? NaN;
}
