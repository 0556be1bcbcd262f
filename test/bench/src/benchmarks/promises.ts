import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@strandline/servers';
import { PostgresTestOutbox, uniqueName, type Judgement } from '@strandline/test-kit';
import { ALL_PEERS } from '../peers/all.js';
import { obtain, type Obtained } from '../peers/obtain.js';
import type { PeerPlace } from '../peers/peer.js';
import { PeerRuns } from '../peers/peer-runs.js';
import { ProcessPeer } from '../peers/process/process-peer.js';
import { FaultError } from '../readers/check.js';
import type { Findings } from '../report/figure.js';
import type { Stage } from './stage.js';

/** Milliseconds that a handler takes at most. */
const WORK = 10;
/** Rows of the backlog in which the process is killed: after a third, and after two. */
const BACKLOG = 4_000;
const KEYS = 50;
const PER_TRANSACTION = 10;
/** Milliseconds of live load. */
const LIVE = 6_000;
/** Several writers that share few keys; a transaction stays open for up to `linger` milliseconds after its ids are drawn. */
const WRITERS = { writers: 6, keys: 20, rows: 3, linger: 40, rollbacks: 0.1, tolerant: true };

/** What is done to a peer. */
type Scene = (outbox: PostgresTestOutbox, runs: PeerRuns) => Promise<void>;

const SCENES: readonly { readonly name: string; readonly play: Scene }[] = [
  { name: 'killed in a backlog', play: killedInABacklog },
  { name: 'live load', play: liveLoad },
];

interface Row {
  readonly committed: number;
  readonly handled: number;
  readonly judgement: Judgement;
}

/** What becomes of completeness and order with each peer, judged as Strandline is. */
export async function promises(stage: Stage): Promise<Findings> {
  const about = `Postgres; killed twice in a backlog of ${BACKLOG.toLocaleString('en-US')} rows, and ${String(WRITERS.writers)} writers that share ${String(WRITERS.keys)} keys and commit out of the order of the ids`;
  const notes: string[] = [];
  if (stage.database.name !== 'postgres') {
    return { benchmark: 'promises', about, figures: [], notes: ['The peers are for Postgres.'] };
  }
  const ours = new ProcessPeer('strandline');
  const obtained = await obtain([ours, ...ALL_PEERS], stage, notes);
  await using server = await startPostgres({ settings: { max_wal_size: '4GB' } });
  const rows: string[][] = [];
  for (const { name, play } of SCENES) {
    for (const one of obtained) {
      stage.progress(`promises, ${name}: ${one.label}`);
      try {
        const row = await judged(server.url, one, play);
        if (one.peer === ours) assertFaultless(name, row.judgement);
        rows.push([`${name}: ${one.label}`, ...cells(row)]);
      } catch (error) {
        if (one.peer === ours) throw error;
        notes.push(
          `${name}: ${one.label}: not judged. ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  }
  return { benchmark: 'promises', about, figures: [], grid: { headings: HEADINGS, rows }, notes };
}

const HEADINGS = ['', 'committed', 'handled', 'missed', 'swaps', 'overlaps', 'repeats', 'duplicates'];

function cells({ committed, handled, judgement }: Row): string[] {
  const { missed, swaps, overlaps, repeats, strays, duplicates } = judgement;
  return [
    committed,
    handled,
    missed.length,
    swaps.length,
    overlaps.length,
    repeats.length + strays.length,
    duplicates.length,
  ].map((value) => value.toLocaleString('en-US'));
}

function assertFaultless(scene: string, { missed, swaps, overlaps, strays, repeats }: Judgement): void {
  const [first] = [...missed, ...swaps, ...overlaps, ...strays, ...repeats];
  if (first !== undefined) throw new FaultError(`strandline, ${scene}: ${first.says}\n${first.excerpt}`);
}

async function judged(serverUrl: string, { peer }: Obtained, play: Scene): Promise<Row> {
  await using outbox = await PostgresTestOutbox.create(serverUrl);
  const log = await outbox.committedLog();
  const place: PeerPlace = { url: outbox.url, name: uniqueName(), slot: null };
  await peer.install(place);
  try {
    await using runs = await PeerRuns.prepare(peer, place, WORK);
    await play(outbox, runs);
    const committed = await log.rows();
    await runs.untilSucceeded(committed.length);
    await runs.stop();
    return {
      committed: committed.length,
      handled: runs.history.refresh().succeeded.size,
      judgement: outbox.check(committed, runs.history, { placeOf: () => '' }),
    };
  } finally {
    await peer.uninstall(place);
  }
}

async function killedInABacklog(outbox: PostgresTestOutbox, runs: PeerRuns): Promise<void> {
  for (let from = 0; from < BACKLOG; from += PER_TRANSACTION) {
    const keys = Array.from({ length: PER_TRANSACTION }, (_, n) => ({
      key: `k${String((from + n) % KEYS)}`,
    }));
    await outbox.insert(keys);
  }
  await runs.start();
  for (const share of [1, 2]) {
    await runs.untilSucceeded((BACKLOG * share) / 3);
    await runs.kill();
    await runs.start();
  }
}

async function liveLoad(outbox: PostgresTestOutbox, runs: PeerRuns): Promise<void> {
  await runs.start();
  await using writers = outbox.writers(WRITERS);
  await sleep(LIVE);
  await writers.stop();
}
