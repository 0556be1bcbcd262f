import { invariant, type Logger } from '@strandline/core';
import type pg from 'pg';
import { errorCodeOf } from './connect-errors.js';
import { endClient, unhurried, type Connector } from './connection.js';
import { postgresError } from './errors.js';
import { formatLsn, parseLsn, type Lsn } from './lsn.js';
import { quoteName } from './quote.js';

/** Milliseconds after which it is said that slot creation waits. */
const PATIENCE = 5_000;

/** A replication slot as pg_replication_slots has it. */
export interface SlotFacts {
  /** Transactions whose commit record starts at or after this are still to come. */
  readonly confirmed: Lsn;
  readonly activePid: number | null;
}

/** The slot, or null when there is none. Throws for one that can never serve. */
export async function findSlot(sql: pg.Client, name: string, version: number): Promise<SlotFacts | null> {
  // invalidation_reason came with version 17.
  const reason = version >= 170_000 ? 'invalidation_reason' : 'null::text';
  const { rows } = await sql.query<Record<string, string | null>>(
    `select slot_type, plugin, database, current_database() as here, active_pid::text, temporary::text, wal_status,
            confirmed_flush_lsn::text as confirmed, ${reason} as reason
     from pg_replication_slots where slot_name = $1`,
    [name],
  );
  const slot = rows[0];
  if (slot === undefined) return null;
  if (slot['wal_status'] === 'lost' || slot['reason'] !== null) throw slotLost(name, slot['reason'] ?? null);
  const mismatch = slotMismatch(slot);
  if (mismatch !== null) {
    throw postgresError(
      'PG_SLOT_MISMATCH',
      `The replication slot ${name} ${mismatch}.`,
      "Name another slot in postgres({ slot: '…' }), or drop this one if nothing needs it.",
    );
  }
  const activePid = slot['active_pid'];
  return {
    confirmed: parseLsn(slot['confirmed'] ?? '') ?? 0n,
    activePid: activePid === null || activePid === undefined ? null : Number(activePid),
  };
}

function slotMismatch(slot: Readonly<Record<string, string | null>>): string | null {
  if (slot['slot_type'] !== 'logical') return 'is a physical one';
  if (slot['database'] !== slot['here']) return `belongs to the database ${slot['database'] ?? '?'}`;
  if (slot['plugin'] !== 'pgoutput') return `decodes with ${slot['plugin'] ?? '?'} and not with pgoutput`;
  if (slot['temporary'] === 'true') return 'is temporary';
  return null;
}

export function slotLost(name: string, reason: string | null, cause?: unknown): Error {
  return postgresError(
    'PG_SLOT_LOST',
    `The server has invalidated the replication slot ${name}${reason === null ? '' : ` (${reason})`}: the log between the saved offset and now is gone.`,
    `Raise max_slot_wal_keep_size or idle_replication_slot_timeout. Then decide how to make up for the gap: drop the slot (select pg_drop_replication_slot('${name}')), ` +
      "delete the pipeline's offset, and start again with start: 'snapshot', which delivers every row that is still in the table.",
    { cause },
  );
}

export function slotMissing(name: string, detail: string, cause?: unknown): Error {
  return postgresError(
    'PG_SLOT_MISSING',
    `There is no replication slot ${name}${detail}.`,
    "A new slot would start at the newest log and skip what was committed since the saved offset. If that is acceptable, delete the pipeline's offset; " +
      "with start: 'snapshot' every row that is still in the table is then delivered.",
    { cause },
  );
}

/** A freshly created slot. */
export interface CreatedSlot {
  /** Transactions that commit from here on are in the stream. */
  readonly consistentPoint: Lsn;
  /** The name of the exported snapshot: what committed before. Valid while the session that made it idles. */
  readonly snapshotName: string | null;
  /** Ends the session that exports the snapshot. */
  release(): Promise<void>;
}

/**
 * Creates the slot. The server first waits for the transactions that run at that moment, however long; when
 * `signal` gives up, its process is ended, or it would go on and leave a slot behind that holds the log.
 */
export async function createSlot(
  {
    connector,
    slot: name,
    log,
  }: { readonly connector: Connector; readonly slot: string; readonly log: Logger },
  sql: pg.Client,
  snapshot: boolean,
  signal: AbortSignal,
): Promise<CreatedSlot> {
  const client = await connector.replication();
  const release = (): Promise<void> => endClient(client);
  try {
    const options = `LOGICAL pgoutput ${snapshot ? 'EXPORT_SNAPSHOT' : 'NOEXPORT_SNAPSHOT'}`;
    const created = await createSlotOn(client, { name, options, sql, log, signal });
    if (!snapshot) await release();
    return { ...created, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The same on a session of the replication protocol that is there already. */
export async function createSlotOn(
  client: pg.Client,
  {
    name,
    options,
    sql,
    log,
    signal,
  }: {
    readonly name: string;
    readonly options: string;
    readonly sql: pg.Client;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
): Promise<Omit<CreatedSlot, 'release'>> {
  const abort = (): void => {
    const pid = (client as unknown as { processID: number }).processID;
    sql.query('select pg_terminate_backend($1)', [pid]).catch(() => undefined);
  };
  signal.addEventListener('abort', abort, { once: true });
  const patience = setTimeout(() => {
    log.warn(
      { slot: name },
      'creating the slot waits for transactions that are open (see pg_stat_activity, backend_xid)',
    );
  }, PATIENCE);
  try {
    signal.throwIfAborted();
    // The older spelling of the options: it is understood by 14 as well as by newer servers.
    const { rows } = await client.query<Record<string, string | null>>(
      unhurried(`CREATE_REPLICATION_SLOT ${quoteName(name)} ${options}`),
    );
    const consistentPoint = parseLsn(rows[0]?.['consistent_point'] ?? '');
    invariant(consistentPoint !== null, 'the server named no consistent point for the new slot');
    return { consistentPoint, snapshotName: rows[0]?.['snapshot_name'] ?? null };
  } catch (cause) {
    throw slotCreationError(name, cause);
  } finally {
    clearTimeout(patience);
    signal.removeEventListener('abort', abort);
  }
}

export function slotCreationError(name: string, cause: unknown): unknown {
  switch (errorCodeOf(cause)) {
    case '53400':
      return postgresError(
        'PG_SLOT_LIMIT',
        `The replication slot ${name} can't be created: all of max_replication_slots are in use.`,
        'Raise max_replication_slots (needs a restart), or drop a slot that nothing reads: select slot_name, active from pg_replication_slots;',
        { cause },
      );
    case '42501':
      return postgresError(
        'PG_PRIVILEGE',
        `This user may not create the replication slot ${name}.`,
        'Run: alter role <user> replication; on managed servers grant the role that carries it, such as rds_replication.',
        { cause },
      );
    default:
      return cause;
  }
}

export function slotAdvanced(name: string, confirmed: Lsn, saved: string): Error {
  return postgresError(
    'PG_SLOT_ADVANCED',
    `The replication slot ${name} is confirmed up to ${formatLsn(confirmed)}, past the saved offset ${saved}: it was advanced or made anew by someone else, or the offset store was restored from an older state.`,
    "What was committed between the two can't be read from this slot any more. If all of it was handled (a restored store), delete the pipeline's offset: " +
      "it then resumes where the slot stands. If not, drop the slot too and start again with start: 'snapshot'.",
    { position: saved },
  );
}
