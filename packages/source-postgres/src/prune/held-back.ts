import type {
  HeldBack,
  Offset,
  Position,
  RegisteredPipeline,
  Relation,
  SourceIdentity,
} from '@strandline/core';
import { formatLsn, type Lsn } from '../lsn.js';
import { parsePosition } from '../position.js';
import type { PostgresIdentity } from '../identity.js';
import type { Family } from './family.js';

/** The outbox, as offsets name it. */
export interface OutboxIdentity extends Pick<PostgresIdentity, 'system' | 'database'> {
  readonly tables: Family;
}

/** A slot that no pipeline of the offset store reads. */
export interface OtherSlot {
  readonly name: string;
  /** Null of one that was never confirmed. */
  readonly confirmed: Lsn | null;
  readonly lost: boolean;
}

/** What the server's log is at the moment. */
export interface LogNow {
  readonly end: Lsn;
  readonly timeline: number;
}

/** Names change, and so do oids when a table is made anew: who has one of the two in common may read it. */
export function relationOf(saved: SourceIdentity, here: OutboxIdentity): Relation {
  const { source, system, database, table, tableOid } = saved;
  if (source === undefined) return 'unknown';
  if (source !== 'postgres') return 'other';
  if (system !== undefined && system !== here.system) return 'other';
  if (database !== undefined && database !== here.database) return 'other';
  if (system === undefined || database === undefined || table === undefined) return 'unknown';
  if (table === '') return 'other';
  return here.tables.names.has(table) || here.tables.oids.has(tableOid ?? '') ? 'reads' : 'other';
}

/** Which pipelines are not proven to have settled all that committed before `end`. */
export function pipelinesBehind(
  end: Position,
  pipelines: readonly RegisteredPipeline[],
  now: LogNow,
): readonly HeldBack[] {
  return pipelines.flatMap(({ pipeline, offset }) => {
    const why = notSettled(end, offset, now);
    return why === null ? [] : [{ who: `pipeline ${pipeline}`, at: offset.watermark, why }];
  });
}

function notSettled(end: Position, { identity, watermark }: Offset, now: LogNow): string | null {
  if (identity['table'] === undefined)
    return 'its offset does not say which table it reads: it was saved by an older release. Start it once with this one';
  const settled = parsePosition(watermark);
  const wanted = parsePosition(end);
  if (settled.kind !== 'log') return 'it is reading the rows that were there when it started';
  if (Number(identity['timeline']) !== now.timeline)
    return `it was last at work on timeline ${String(identity['timeline'])}, and the server is on ${String(now.timeline)}`;
  if (settled.lsn > now.end)
    return `its offset lies ahead of the log, which ends at ${formatLsn(now.end)}: it is of another server, or of a restored one`;
  // Of a transaction whose commit record begins there nothing need be settled: what counts begins before.
  if (wanted.kind !== 'log' || settled.lsn < wanted.lsn) return `it has to come to ${end}`;
  return null;
}

/** Other readers of the log that have not confirmed everything before `end`. */
export function slotsBehind(end: Position, slots: readonly OtherSlot[]): readonly HeldBack[] {
  const wanted = parsePosition(end);
  return slots.flatMap(({ name, confirmed, lost }) => {
    if (!lost && confirmed !== null && wanted.kind === 'log' && confirmed >= wanted.lsn) return [];
    const why = lost
      ? 'the server has invalidated it: drop it, or name it in prune.ignoreSlots'
      : `it is no slot of a pipeline in this offset store, and has to come to ${end}; name it in prune.ignoreSlots if its reader needs no rows`;
    return [{ who: `slot ${name}`, at: confirmed === null ? null : formatLsn(confirmed), why }];
  });
}
