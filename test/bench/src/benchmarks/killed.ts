import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backlog } from '../databases/bench-database.js';
import { startJob, type RunningJob } from '../processes/start-job.js';
import { HandledReader } from '../readers/handled-file.js';
import { now } from '../readers/reading.js';
import { TwoLives } from '../readers/two-lives.js';
import { readerOf, type Stage } from './stage.js';

const LIVE = { keys: 512, rowsPerSecond: 1_000, rows: 4_000 } as const;
/** When the process is killed: after so much of the rows. */
const KILL_AT = 0.4;
/** Milliseconds between looks at what was handled. */
const LOOK_EVERY = 20;
/** With no new row for so long, in milliseconds, some are lost: the check says how many. */
const STALL = 60_000;
/** Strandline saves its offset so often by default, in milliseconds: what was settled since may come again. */
const COMMIT_INTERVAL = 100;
/** Handlers at once, by default. */
const CONCURRENCY = 32;

/** What became of one kill. Times are milliseconds since SIGKILL was sent. */
export interface Recovered {
  /** Until a handler was called with an event for the first time. */
  readonly toNew: number;
  /** Until a handler was called at all. */
  readonly toAny: number;
  /** Until the new process streamed. */
  readonly toReady: number;
  readonly duplicates: number;
  /** What may have been in flight, and what was settled within the commit interval before the end. */
  readonly allowed: number;
}

/** Kills the process under a steady load. */
export async function killedUnderLoad(stage: Stage, name: string): Promise<Recovered> {
  const { keys, rows, rowsPerSecond } = LIVE;
  const options = { name, rows: 0, perTransaction: 1, keys, payload: 'text' } as const;
  await using backlog = await stage.database.createBacklog(options);
  return await twoLives(stage, backlog, rows, () => {
    const { url } = backlog;
    return startJob('writer', { database: stage.database.name, url, rows, keys, rowsPerSecond }).result;
  });
}

/** Kills the process in the middle of a backlog. */
export function killed(stage: Stage, backlog: Backlog): Promise<Recovered> {
  return twoLives(stage, backlog, backlog.options.rows, () => Promise.resolve());
}

/** One process of the pipeline. */
interface Life {
  readonly process: RunningJob<'noting'>;
  readonly notes: HandledReader;
}

interface Taken {
  readonly moment: number;
  readonly isNew: boolean;
}

async function twoLives(
  stage: Stage,
  backlog: Backlog,
  rows: number,
  load: () => Promise<unknown>,
): Promise<Recovered> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-'));
  try {
    return await backlog.withReader(async (reader) => {
      const started: Life[] = [];
      const start = (): Life => {
        const notes = path.join(directory, String(started.length));
        const settings = { ...readerOf(stage, backlog, reader), offsets: stage.offsets, notes };
        const life = { process: startJob('noting', settings), notes: new HandledReader(notes) };
        started.push(life);
        return life;
      };
      try {
        return await killOnce(backlog, rows, start, load);
      } finally {
        // Whatever went wrong: a slot can't be dropped while somebody reads it.
        await Promise.all(started.map(({ process }) => process.kill()));
      }
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function killOnce(
  backlog: Backlog,
  rows: number,
  start: () => Life,
  load: () => Promise<unknown>,
): Promise<Recovered> {
  const lives = new TwoLives(backlog.options.keys);
  const first = start();
  await first.process.ready;
  const loaded = load();
  const before = await follow(first, lives, KILL_AT * rows);
  const killedAt = now();
  await first.process.kill();
  const second = start();
  let readyAt = NaN;
  const noteReady = (): void => void (readyAt = now());
  void second.process.ready.then(noteReady, () => undefined);
  for (const each of take(first, lives)) before.push(each);
  lives.nextLife();
  const after = await follow(second, lives, rows);
  await loaded;
  lives.check(backlog.options.name, await backlog.count());
  return {
    toNew: (after.find(({ isNew }) => isNew)?.moment ?? NaN) - killedAt,
    toAny: (after[0]?.moment ?? NaN) - killedAt,
    toReady: readyAt - killedAt,
    duplicates: lives.duplicates,
    allowed: allowedAfter(before),
  };
}

/** Until so many different rows were handled, or none came any more. */
async function follow({ process, notes }: Life, lives: TwoLives, rows: number): Promise<Taken[]> {
  const all: Taken[] = [];
  let since = now();
  while (lives.seen < rows && now() - since < STALL) {
    const some = take({ process, notes }, lives);
    for (const each of some) all.push(each);
    if (some.length > 0) since = now();
    // It ends only with an error.
    await Promise.race([sleep(LOOK_EVERY), process.result]);
  }
  return all;
}

function take({ notes }: Life, lives: TwoLives): Taken[] {
  return notes.next().map((handled) => ({ moment: handled.moment, isNew: lives.take(handled) }));
}

/** Handlers do nothing, so what they were called with is settled at once, or was in flight. */
function allowedAfter(before: readonly Taken[]): number {
  const end = before.at(-1)?.moment ?? NaN;
  return CONCURRENCY + before.filter(({ moment }) => moment > end - COMMIT_INTERVAL).length;
}
