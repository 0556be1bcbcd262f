import { check } from '../readers/check.js';
import type { ReleasingReading } from '../readers/releasing.js';
import type { Figure, Findings } from '../report/figure.js';
import { readerOf, releasing, type Stage } from './stage.js';

/** Rows of the parked key, of those of a backlog: 100,000; and how many times as many it has the second time. */
const SHARE = 0.5;
const MANY = 4;
/** MiB that the second one may take more: what is held in memory does not follow from what waits. */
const FLAT = { rule: '<', bound: 50 } as const;

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
        goal: FLAT,
      },
    ],
  };
}

function figuresOf(reading: ReleasingReading, rows: number): Figure[] {
  const perSecond = (milliseconds: number): number => (rows * 1_000) / milliseconds;
  const count = rows.toLocaleString('en-US');
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
  stage.progress(`writing the backlog ${name}`);
  const options = { name, rows, perTransaction: 10, keys: 1, payload: 'text' } as const;
  await using backlog = await stage.database.createBacklog(options);
  stage.progress(`${name}: parking one key, and releasing it`);
  const reading = await backlog.withReader((reader) =>
    releasing({ ...readerOf(stage, backlog, reader), offsets: stage.offsets }),
  );
  check(name, reading, backlog.rowsPerKey);
  return reading;
}
