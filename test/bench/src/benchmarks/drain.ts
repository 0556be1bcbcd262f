import type { Backlog, BacklogOptions } from '../databases/bench-database.js';
import type { DatabaseName } from '../databases/names.js';
import { check } from '../readers/check.js';
import type { Reader } from '../readers/reader.js';
import type { Reading } from '../readers/reading.js';
import type { StrandlineReading, StrandlineSettings } from '../readers/strandline.js';
import type { Figure, Findings } from '../report/figure.js';
import { ratios } from '../report/statistics.js';
import { bareLibrary, readerOf, strandline, type Stage } from './stage.js';

const KEYS = 5_000;
const BARE = 'bare library';
/** Share of the bare library's speed that the whole pipeline must reach. */
const GOAL = { rule: '>=', bound: 0.6 } as const;

/** Where the goal is for transactions of one row as well. */
const SINGLES_JUDGED: Readonly<Record<DatabaseName, boolean>> = {
  postgres: false,
  mysql: true,
  mariadb: true,
};

/** What each round of one reader brought, in the order of the rounds. */
type Results = ReadonlyMap<string, (Reading | StrandlineReading)[]>;

/** How fast a backlog is drained, beside readers that do nothing but read. */
export async function drain(stage: Stage): Promise<Findings> {
  const ours = (name: string, settings: Partial<StrandlineSettings> = {}): Reader => ({
    name: `strandline, ${name}`,
    read: (reader) => strandline(stage, { ...reader, ...settings }),
  });
  const bare: Reader = { name: BARE, read: bareLibrary };
  const main = ours('async handler');
  const backlog = { rows: stage.rows, keys: KEYS };

  const tens = await measure(
    stage,
    { ...backlog, name: 'drain_tens', perTransaction: 10, payload: 'text' },
    async (made) => [
      bare,
      main,
      ours('plain-value handler', { handler: 'plain' }),
      ours('batch handler', { handler: 'batch' }),
      ours("visibility 'logged'", { visibility: 'logged' }),
      ...(await made.ownReaders()),
    ],
  );
  const ones = await measure(
    stage,
    { ...backlog, name: 'drain_ones', perTransaction: 1, payload: 'text' },
    () => [bare, main],
  );
  const json = await measure(
    stage,
    { ...backlog, name: 'drain_json', perTransaction: 10, payload: 'json' },
    () => [bare, main, ours('handler reads the payload', { handler: 'payload' })],
  );
  return {
    benchmark: 'drain',
    about: `${stage.database.label}, a backlog of ${stage.rows.toLocaleString('en-US')} rows, ${KEYS.toLocaleString('en-US')} keys; offsets: ${stage.offsets.kind}`,
    figures: [
      ...figures('transactions of 10', tens, main.name),
      ...figures('transactions of 1', ones, SINGLES_JUDGED[stage.database.name] ? main.name : undefined),
      ...figures('transactions of 10, JSON', json),
    ],
  };
}

/** Has every reader read the same backlog in every round; each round begins with another one. */
async function measure(
  stage: Stage,
  options: BacklogOptions,
  readersFor: (backlog: Backlog) => readonly Reader[] | Promise<readonly Reader[]>,
): Promise<Results> {
  stage.progress(`writing the backlog ${options.name}`);
  await using backlog = await stage.database.createBacklog(options);
  const readers = await readersFor(backlog);
  const results = new Map(readers.map(({ name }) => [name, [] as Reading[]]));
  for (let round = 0; round < stage.rounds; round += 1) {
    for (let turn = 0; turn < readers.length; turn += 1) {
      const reader = readers[(round + turn) % readers.length];
      if (reader === undefined) continue;
      stage.progress(`${options.name}, round ${String(round + 1)}: ${reader.name}`);
      const reading = await backlog.withReader((name) => reader.read(readerOf(stage, backlog, name)));
      check(`${options.name}, ${reader.name}`, reading, backlog.rowsPerKey);
      results.get(reader.name)?.push(reading);
    }
  }
  return results;
}

function figures(title: string, results: Results, judged?: string): Figure[] {
  const bare = (results.get(BARE) ?? []).map(speed);
  return [...results].flatMap(([name, readings]) => {
    const rounds = readings.map(speed);
    const cpu = readings.map((reading) => (reading.cpu * 1_000) / reading.seen);
    const questions = readings.flatMap((reading) => ('questions' in reading ? [reading.questions] : []));
    const all: Figure[] = [
      { name: `${title}: ${name}`, unit: 'rows/s', rounds },
      {
        name: '  of the bare library',
        unit: 'ratio',
        rounds: ratios(rounds, bare),
        ...(name === judged ? { goal: GOAL } : {}),
      },
      { name: '  processor time', unit: 'µs/row', rounds: cpu },
      { name: '  questions of the gate', unit: 'count', rounds: questions },
    ];
    return all.filter((figure) => figure.rounds.length > 0 && !figure.rounds.every(Number.isNaN));
  });
}

function speed({ seen, startedAt, endedAt }: Reading): number {
  return (seen * 1_000) / (endedAt - startedAt);
}
