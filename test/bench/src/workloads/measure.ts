import { readerOf, written, type Stage } from '../benchmarks/stage.js';
import type { Backlog } from '../databases/bench-database.js';
import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { Reader } from '../readers/reader.js';
import type { Reading } from '../readers/reading.js';
import type { StrandlineReading } from '../readers/strandline.js';
import type { Peer, Variant, Workload } from './workload.js';

/** One reader of a workload, and what each round of it brought, in the order of the rounds. */
export interface Lane {
  readonly name: string;
  readonly is: Peer | 'strandline';
  readonly readings: (Reading | StrandlineReading)[];
}

type Entrant = Reader & { readonly is: Lane['is'] };

/** Has every reader read the same backlog in every round; each round begins with another one. */
export async function measureWorkload(stage: Stage, workload: Workload): Promise<readonly Lane[]> {
  const { name, log } = workload;
  const { share, ...options } = log;
  const rows = Math.max(1, Math.round(stage.rows * share));
  await using backlog = await written(stage, { ...options, name, rows });
  const entrants = await entrantsFor(stage, workload, backlog);
  const lanes = entrants.map(({ name, is }): Lane => ({ name, is, readings: [] }));
  for (let round = 0; round < stage.rounds; round += 1) {
    for (let turn = 0; turn < entrants.length; turn += 1) {
      const index = (round + turn) % entrants.length;
      const entrant = entrants[index];
      if (entrant === undefined) continue;
      stage.progress(`${name}, round ${String(round + 1)}: ${entrant.name}`);
      const reading = await backlog.withReader((reader) => entrant.read(readerOf(stage, backlog, reader)));
      check(`${name}, ${entrant.name}`, reading, backlog.rowsPerKey);
      lanes[index]?.readings.push(reading);
    }
  }
  return lanes;
}

async function entrantsFor(
  stage: Stage,
  { variants, peers }: Workload,
  backlog: Backlog,
): Promise<readonly Entrant[]> {
  const ours = variants.map((variant): Entrant => oursAs(stage, variant));
  const others = peers.map(async (peer): Promise<Entrant[]> => {
    switch (peer) {
      case 'bare':
        return [{ name: 'bare library', is: peer, read: (settings) => startJob('bare', settings).result }];
      case 'server':
        return (await backlog.ownReaders()).map((reader) => ({ ...reader, is: peer }));
      case 'waits':
        return [waitsOf(variants[0])];
    }
  });
  return [...(await Promise.all(others)).flat(), ...ours];
}

function oursAs({ offsets }: Stage, { label, settings }: Variant): Entrant {
  return {
    name: `strandline, ${label}`,
    is: 'strandline',
    read: (reader) =>
      startJob('strandline', {
        ...{ offsets, handler: 'async', visibility: 'committed' },
        ...reader,
        ...settings,
      }).result,
  };
}

function waitsOf({ settings: { wait, concurrency } }: Variant): Entrant {
  if (wait === undefined || concurrency === undefined)
    throw new Error('A workload beside bare waits needs handlers that wait, and their concurrency.');
  return {
    name: 'waits alone',
    is: 'waits',
    read: (settings) => startJob('bareWaits', { ...settings, wait, concurrency }).result,
  };
}
