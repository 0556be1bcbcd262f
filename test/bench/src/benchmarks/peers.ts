import type { Backlog } from '../databases/bench-database.js';
import { PEERS_FOR_SPEED } from '../peers/all.js';
import { faultOf } from '../peers/check-peer.js';
import { obtain, type Obtained } from '../peers/obtain.js';
import type { Peer, PeerPlace, PeerReading } from '../peers/peer.js';
import { withDeadline } from '../peers/with-deadline.js';
import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { Reading } from '../readers/reading.js';
import type { Figure, Findings } from '../report/figure.js';
import { ratios } from '../report/statistics.js';
import { readerOf, type Stage } from './stage.js';

const KEYS = 5_000;
/** Milliseconds that a peer gets from its first row on: more than the fast ones need, and the slow ones never would end. */
const LIMIT = 4_000;
/** Milliseconds until a peer has to have come up and seen its first row, on a busy machine. */
const SILENCE = 60_000;

/** What one of those who are compared brought in each round. */
interface Results {
  readonly name: string;
  readonly goal: number | null;
  readonly rounds: { readonly speed: number; readonly cpu: number }[];
}

/** How fast the same backlog is handled by what one could have taken instead. */
export async function peers(stage: Stage): Promise<Findings> {
  const about = `${stage.database.label}, a backlog of ${stage.rows.toLocaleString('en-US')} rows, ${KEYS.toLocaleString('en-US')} keys, 10 rows per transaction, an async handler that does nothing; offsets: ${stage.offsets.kind}`;
  const notes: string[] = [];
  if (stage.database.name !== 'postgres') {
    return { benchmark: 'peers', about, figures: [], notes: ['The peers are for Postgres.'] };
  }
  const obtained = await obtain(PEERS_FOR_SPEED, stage, notes);
  stage.progress('writing the backlog peers');
  await using backlog = await stage.database.createBacklog({
    ...{ name: 'peers', rows: stage.rows, perTransaction: 10, keys: KEYS, payload: 'text' },
  });
  return { benchmark: 'peers', about, figures: await measure(stage, backlog, obtained, notes), notes };
}

async function measure(
  stage: Stage,
  backlog: Backlog,
  obtained: readonly Obtained[],
  notes: string[],
): Promise<Figure[]> {
  const ours: Results = { name: 'strandline', goal: null, rounds: [] };
  const theirs = obtained.map(({ peer, label }) => {
    const results: Results = { name: label, goal: peer.goal, rounds: [] };
    return { peer, results, isOut: false };
  });
  const turns = [
    async (): Promise<void> => {
      stage.progress('  strandline');
      const settings = { offsets: stage.offsets, handler: 'async', visibility: 'committed' } as const;
      const reading = await backlog.withReader(
        (name) => startJob('strandline', { ...readerOf(stage, backlog, name), ...settings }).result,
      );
      check('peers, strandline', reading, backlog.rowsPerKey);
      ours.rounds.push(figuresOf(reading));
    },
    ...theirs.map((one) => async (): Promise<void> => {
      if (one.isOut) return;
      stage.progress(`  ${one.results.name}`);
      const outcome = await read(one.peer, backlog);
      if (typeof outcome === 'string') {
        one.isOut = true;
        notes.push(`${one.results.name}: no figure. ${outcome}`);
      } else one.results.rounds.push(figuresOf(outcome));
    }),
  ];
  for (let round = 0; round < stage.rounds; round += 1) {
    stage.progress(`peers, round ${String(round + 1)}`);
    for (let turn = 0; turn < turns.length; turn += 1) await turns[(round + turn) % turns.length]?.();
  }
  const good = theirs.filter(({ isOut }) => !isOut).map(({ results }) => results);
  return [ours, ...good].flatMap((results) => figures(results, ours));
}

/** One reading of a peer; or a sentence that says why there is none. */
async function read(peer: Peer, backlog: Backlog): Promise<PeerReading | string> {
  const { rows, keys } = backlog.options;
  const most = Math.min(rows, peer.most ?? rows);
  try {
    return await backlog.withReader(async (slot) => {
      const place: PeerPlace = { url: backlog.url, name: slot, slot };
      await peer.install(place);
      try {
        await peer.load(place);
        const life = peer.start(place, { kind: 'speed', rows: most, keys, limit: LIMIT });
        try {
          const reading = await withDeadline('the reading', SILENCE + LIMIT, life.reading);
          return faultOf(reading, backlog.rowsPerKey) ?? reading;
        } finally {
          await life.kill();
        }
      } finally {
        await peer.uninstall(place);
      }
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function figures({ name, goal, rounds }: Results, ours: Results): Figure[] {
  const speeds = rounds.map(({ speed }) => speed);
  const all: Figure[] = [
    { name, unit: 'rows/s', rounds: speeds },
    { name: '  processor time', unit: 'µs/row', rounds: rounds.map(({ cpu }) => cpu) },
  ];
  if (name === ours.name) return all;
  return [
    ...all,
    {
      name: `  strandline, times ${name}`,
      unit: 'ratio',
      rounds: ratios(
        ours.rounds.map(({ speed }) => speed),
        speeds,
      ),
      ...(goal === null ? {} : { goal: { rule: '>=', bound: goal } as const }),
    },
  ];
}

/** Of what was seen between the two moments, whether or not it was all. */
function figuresOf({ seen, startedAt, endedAt, cpu }: PeerReading | Reading): Results['rounds'][number] {
  return { speed: (seen * 1_000) / (endedAt - startedAt), cpu: (cpu * 1_000) / seen };
}
