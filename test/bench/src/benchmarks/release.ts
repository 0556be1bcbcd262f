import { goalOf } from '../goals.js';
import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { ReleasingReading } from '../readers/releasing.js';
import type { Figure, Findings } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { readerOf, written, type Stage } from './stage.js';

/** Rows of the parked key, of those of a backlog: 100,000; and how many times as many it has the second time. */
const SHARE = 0.5;
const MANY = 4;

/** One key that is parked with all that follows it, and is released: how fast, and in how much memory. */
export async function release(stage: Stage): Promise<Findings> {
  const rows = Math.round(stage.rows * SHARE);
  const few = await measure(stage, 'release', rows);
  const many = await measure(stage, 'release_many', MANY * rows);
  return {
    benchmark: 'release',
    about: `${stage.database.label}, one key, parked beside the outbox and released in order; offsets: ${stage.offsets.kind}`,
    figures: [
      ...figuresOf(few, rows),
      ...figuresOf(many, MANY * rows),
      {
        name: '  peak of these, above that of those',
        unit: 'MiB',
        rounds: [many.whileReleasing.peakMib - few.whileReleasing.peakMib],
        // What is held in memory does not follow from what waits.
        goal: goalOf('releasedMemory', stage.database.name),
      },
    ],
  };
}

function figuresOf(reading: ReleasingReading, rows: number): Figure[] {
  const perSecond = (milliseconds: number): number => (rows * 1_000) / milliseconds;
  const count = grouped(rows);
  return [
    { name: `${count} rows: parked`, unit: 'rows/s', rounds: [perSecond(reading.parking)] },
    { name: '  resident set, peak', unit: 'MiB', rounds: [reading.whileParking.peakMib] },
    {
      name: '  released, handled, and live again',
      unit: 'rows/s',
      rounds: [perSecond(reading.releasing)],
    },
    { name: '  resident set, peak since the start', unit: 'MiB', rounds: [reading.whileReleasing.peakMib] },
  ];
}

async function measure(stage: Stage, name: string, rows: number): Promise<ReleasingReading> {
  const options = { name, rows, perTransaction: 10, keys: 1, payload: 'text' } as const;
  await using backlog = await written(stage, options);
  stage.progress(`${name}: parking one key, and releasing it`);
  const reading = await backlog.withReader(
    (reader) => startJob('releasing', { ...readerOf(stage, backlog, reader), offsets: stage.offsets }).result,
  );
  check(name, reading, backlog.rowsPerKey);
  return reading;
}
