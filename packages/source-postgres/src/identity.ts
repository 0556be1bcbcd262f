import type { Offset, OffsetSeed, SourceIdentity } from '@strandline/core';
import type { Connector } from './connection.js';
import { postgresError } from './errors.js';
import { formatLsn, type Lsn } from './lsn.js';
import { parsePosition } from './position.js';
import { timelineEnd, type ServerFacts } from './server.js';

/** What an offset of this source says about where it belongs. */
export interface PostgresIdentity extends SourceIdentity {
  readonly source: 'postgres';
  readonly system: string;
  readonly timeline: string;
  readonly database: string;
  readonly slot: string;
  /** The oid of the publication: another one under the same name has not published what came before it. */
  readonly publication: string;
  /** The oid of the table's entry in the publication: what was inserted while it was out of it was not published. */
  readonly membership: string;
  /** `schema.table`, and its oid, which outlives another name; empty where there is no table. Offsets of older releases lack them. */
  readonly table: string;
  readonly tableOid: string;
}

/** Of a pipeline that started with a snapshot, until the next start after it: what the snapshot saw. */
export interface SnapshotIdentity {
  /** The slot's consistent point: what commits from there on is in the stream. */
  readonly snapshotLsn: string;
  /** pg_current_snapshot() in the exported snapshot. */
  readonly snapshotXids: string;
}

const OWNER_FIELDS = ['source', 'system', 'database', 'slot'] as const;

const FIELD_NAMES: Readonly<Record<(typeof OWNER_FIELDS)[number], string>> = {
  source: 'source',
  system: 'server (system identifier)',
  database: 'database',
  slot: 'replication slot',
};

/** Throws unless the saved offset belongs to this log. */
export function checkOwner(
  { identity: saved, watermark }: OffsetSeed,
  here: Pick<PostgresIdentity, (typeof OWNER_FIELDS)[number]>,
): void {
  for (const field of OWNER_FIELDS) {
    if (saved[field] === here[field]) continue;
    throw postgresError(
      'PG_OFFSET_FOREIGN',
      `The saved offset belongs to another ${FIELD_NAMES[field]}: ${String(saved[field])}, and this is ${here[field]}.`,
      'Positions mean nothing there. Correct the connection or the name of the pipeline; to start afresh on purpose, use a new name.',
      { position: watermark },
    );
  }
}

/** Throws unless the log has all that follows the saved offset, whose place in it is part of today's history. */
export async function checkHistoryOf(
  { identity: saved, watermark, completed = [] }: OffsetSeed & Partial<Pick<Offset, 'completed'>>,
  connector: Connector,
  facts: ServerFacts,
  here: PostgresIdentity,
): Promise<void> {
  if (!isSamePublication(saved, here)) throw publicationChanged(here.slot, watermark);
  const timeline = Number(saved['timeline']);
  if (timeline === facts.timeline) return;
  const furthest = parsePosition(completed.at(-1)?.last ?? watermark);
  await checkHistory(connector, facts, timeline, watermark, furthest.kind === 'log' ? furthest.lsn : 0n);
}

/** After a failover: everything that was read must lie before the point where the new primary's log branched off. */
export async function checkHistory(
  connector: Connector,
  facts: ServerFacts,
  timeline: number,
  position: string,
  read: Lsn,
): Promise<void> {
  const end = await timelineEnd(connector, facts.timeline, timeline);
  if (end !== null && read <= end) return;
  throw postgresError(
    'PG_TIMELINE',
    `The server is on timeline ${String(facts.timeline)}, which ${end === null ? `does not descend from timeline ${String(timeline)}` : `left timeline ${String(timeline)} at ${formatLsn(end)}`}; this pipeline has handled events up to ${formatLsn(read)} of the latter.`,
    'A failover has lost transactions that were handled already. Find out which and whether that matters; then start under a new pipeline name.',
    { position },
  );
}

export function isSamePublication(before: SourceIdentity, now: PostgresIdentity): boolean {
  return before['publication'] === now.publication && before['membership'] === now.membership;
}

export function publicationChanged(slot: string, position: string): Error {
  return postgresError(
    'PG_PUBLICATION_CHANGED',
    `The publication of slot ${slot} was dropped, made anew or altered: rows that were inserted in the meantime, after ${position}, are not in the stream.`,
    "Restore the publication, look for the rows that were committed meanwhile, and start under a new pipeline name with start: 'snapshot' to have every row that is still in the table delivered.",
    { position },
  );
}
