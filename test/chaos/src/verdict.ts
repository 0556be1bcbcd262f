import {
  judge,
  lifeOfTerm,
  type CommittedRow,
  type Finding,
  type HistoryEntry,
  type Judgement,
} from '@strandline/test-kit';
import type { Life } from './life.js';
import { BROKEN } from './load/broken.js';
import type { Stage } from './stage.js';
import type { Unrest } from './unrest.js';

/** Something that must not be. */
export interface Fault {
  readonly kind: string;
  readonly says: string;
  readonly excerpt: string;
  /** When it was seen, if that can be told. */
  readonly at: number | null;
}

export interface Verdict {
  readonly judgement: Judgement;
  /** Rows that have committed. */
  readonly events: number;
  readonly faults: readonly Fault[];
  /** The ends of the logs of those that it may be about, by the number of the life. */
  readonly logs: ReadonlyMap<number, string>;
}

/** Lives whose logs are shown when it can't be told whose they should be. */
const LAST_LIVES = 4;

export async function verdictOf(stage: Stage, unrest: Unrest | null, loadEnded: number): Promise<Verdict> {
  const { crew, watch } = stage;
  const rows = await stage.committed.rows();
  const judgement = await judgementOf(stage, rows);
  const faults = [
    ...(unrest === null
      ? []
      : [{ kind: 'unrest', says: unrest.says, excerpt: unrest.crew.join('\n'), at: loadEnded }]),
    ...crew.unexpected.map(({ says, at }) => ({ kind: 'end', says, excerpt: '', at })),
    ...watch.wentBack.map(({ says, at }) => ({ kind: 'offset', says, excerpt: '', at })),
    ...(['missed', 'swaps', 'overlaps', 'strays', 'repeats'] as const).flatMap((kind) =>
      judgement[kind].map((finding) => faultOf(kind, finding, stage)),
    ),
  ];
  return { judgement, events: rows.length, faults, logs: logsOf(stage) };
}

async function judgementOf(
  { crew, database, history, setup }: Stage,
  rows: readonly CommittedRow[],
): Promise<Judgement> {
  const { entries } = history.refresh();
  const terms = termsOf(crew.lives, entries);
  return judge(rows, entries, {
    ended: endsOf(terms, entries),
    paused: new Map(terms.map(({ run, life: { cuts } }) => [run, cuts])),
    broken: new Set(setup.letters ? await database.idsWith(BROKEN) : []),
  });
}

/** A stretch for which a process owned the log: the judge takes each for a life, since each may begin anew. */
interface Term {
  readonly run: number;
  readonly life: Life;
}

function termsOf(lives: readonly Life[], entries: readonly HistoryEntry[]): Term[] {
  const runs = [...new Set(entries.map(({ run }) => run))];
  return runs.flatMap((run) => {
    const life = lives.find((each) => each.run === lifeOfTerm(run));
    return life === undefined ? [] : [{ run, life }];
  });
}

/** One that stops in order lets go of the log when its last handler has ended, and its process ends a little later. */
function endsOf(terms: readonly Term[], entries: readonly HistoryEntry[]): Map<number, number> {
  const last = new Map(entries.map(({ run, at }) => [run, at]));
  const ends = terms.flatMap(({ run, life: { endedAt, exit } }) => {
    if (endedAt === null) return [];
    return [[run, exit?.code === 0 ? Math.min(last.get(run) ?? endedAt, endedAt) : endedAt] as const];
  });
  return new Map(ends);
}

function faultOf(kind: string, { says, excerpt, ids }: Finding, { history }: Stage): Fault {
  const seen = history.entries.findLast((entry) => entry.ids.some((id) => ids.includes(id)));
  return { kind, says, excerpt, at: seen?.at ?? null };
}

function logsOf({ crew }: Stage): Map<number, string> {
  const lives: readonly Life[] = [
    ...crew.unexpected.map(({ life }) => life),
    ...crew.lives.slice(-LAST_LIVES),
  ];
  return new Map(lives.map(({ run, process }) => [run, process.log]));
}
