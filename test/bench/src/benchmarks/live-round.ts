import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { Reading } from '../readers/reading.js';
import type { StrandlineReading } from '../readers/strandline.js';
import { tailOf, type Tail } from '../report/histogram.js';
import type { Writing } from '../writer/paced-writer.js';
import { readerOf, type Stage } from './stage.js';

/** Divided among the writer's connections, of which there is a power of two. */
const KEYS = 512;
/** The first fifth is read and checked, but not counted: programs start slowly, pipelines do not start often. */
const WARM_UP = 0.2;

export type LiveReader = 'bare library' | "visibility 'committed'" | "visibility 'logged'";

/** One reader under a steady load. */
export interface LiveRound {
  /** From right before COMMIT was sent: nothing that belongs to the way is left out, and the commit's own work is in it. */
  readonly fromSent: Tail;
  /** From right after its answer had come: nothing for a row that was faster than the answer. */
  readonly fromReturned: Tail;
  /** What was really written. */
  readonly rowsPerSecond: number;
  /** Of the reader, in microseconds a row. */
  readonly cpu: number;
  readonly peakMib: number;
  readonly questions: number | null;
}

export interface Load {
  readonly rowsPerSecond: number;
  readonly seconds: number;
}

/** One row per transaction, each at its own time, written by one process and read by another. */
export async function liveRound(
  stage: Stage,
  reader: LiveReader,
  load: Load,
  name: string,
): Promise<LiveRound> {
  const rows = Math.round(load.rowsPerSecond * load.seconds);
  const options = { name, rows: 0, perTransaction: 1, keys: KEYS, payload: 'text' } as const;
  await using backlog = await stage.database.createBacklog(options);
  return await backlog.withReader(async (readerName) => {
    const settings = { ...readerOf(stage, backlog, readerName), rows, arrivals: true };
    const reading = startReader(stage, reader, settings);
    await reading.ready;
    const { url } = backlog;
    const { rowsPerSecond } = load;
    const database = stage.database.name;
    const writer = startJob('writer', { database, url, rows, keys: KEYS, rowsPerSecond });
    const [writing, read] = await Promise.all([writer.result, reading.result]);
    check(`${name}, ${reader}`, read, await backlog.count());
    return roundOf(writing, read);
  });
}

function startReader(
  { offsets }: Stage,
  reader: LiveReader,
  settings: Parameters<typeof startJob<'bare'>>[1],
): { readonly ready: Promise<void>; readonly result: Promise<Reading | StrandlineReading> } {
  if (reader === 'bare library') return startJob('bare', settings);
  const visibility = reader === "visibility 'logged'" ? 'logged' : 'committed';
  return startJob('strandline', { ...settings, offsets, visibility, handler: 'async' });
}

function roundOf({ sent, returned }: Writing, reading: Reading | StrandlineReading): LiveRound {
  const { arrivals } = reading;
  const first = Math.floor(arrivals.length * WARM_UP);
  const since = (moments: Float64Array): Float64Array =>
    arrivals.slice(first).map((arrival, index) => arrival - (moments[first + index] ?? NaN));
  const seconds = ((sent.at(-1) ?? NaN) - (sent[first] ?? NaN)) / 1_000;
  return {
    fromSent: tailOf(since(sent)),
    fromReturned: tailOf(since(returned)),
    rowsPerSecond: (arrivals.length - first) / seconds,
    cpu: (reading.cpu * 1_000) / reading.seen,
    peakMib: reading.peakMib,
    questions: 'questions' in reading ? reading.questions : null,
  };
}
