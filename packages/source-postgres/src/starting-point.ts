import { SNAPSHOT_START } from '@strandline/source-kit';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Offset, OffsetSeed, OpenRequest } from '@strandline/core';
import type pg from 'pg';
import { errorCodeOf } from './connect-errors.js';
import { postgresError } from './errors.js';
import { checkHistoryOf, checkOwner } from './identity.js';
import { formatLsn, parseLsn, type Lsn } from './lsn.js';
import type { TableFacts } from './outbox-table.js';
import { logPosition, parsePosition } from './position.js';
import { quoteText } from './quote.js';
import type { Session, SessionRequest } from './session.js';
import { createSlot, findSlot, slotAdvanced, slotMissing, type SlotFacts } from './slot.js';
import { inSnapshot, snapshotIdentityOf } from './snapshot-phase.js';
import { snapshotOrderColumns } from './snapshot-reader.js';

/** From where an owner of the slot reads. */
export interface StartingPoint {
  /** What was saved, if anything was: it decides whether the snapshot comes first. */
  readonly offset: Offset | null;
  /** From where the log is streamed. */
  readonly lsn: Lsn;
  /** Where the slot stands: there, or earlier where settled log is kept. */
  readonly confirmed: Lsn;
  /** What to claim the offset with. */
  readonly seed: OffsetSeed;
  /** The snapshot to read the table in, when the slot was created just now. */
  readonly exportedSnapshot: string | null;
  /** Ends the session that exports it. */
  release(): Promise<void>;
}

/** Another process got in between: look at everything anew. */
export class StartOverError extends Error {
  override readonly name = 'StartOverError';
}

/**
 * Compares what was saved with what the server has. A slot without an offset, or an offset without a slot,
 * is never taken for a first run.
 */
export async function startingPoint(
  session: Session,
  request: SessionRequest,
  open: OpenRequest,
): Promise<StartingPoint> {
  const find = (): Promise<SlotFacts | null> => findSlot(session.sql, request.slot, session.server.version);
  // The slot first: it is confirmed up to what was saved before, so an offset that is loaded later is never behind it.
  const slot = await find();
  const saved = await open.load();
  if (slot === null && (await find()) !== null) throw new StartOverError('the slot was created meanwhile');
  if (saved === null)
    return slot === null ? firstRun(session, request, open, saved) : withoutOffset(session, request, slot);
  checkOwner(saved, session.identity);
  await checkHistoryOf(saved, request.connector, session.server, session.identity);
  const snapshot = snapshotIdentityOf(saved);
  // The first start ended before the snapshot was taken: nothing was handed out yet.
  if (saved.watermark === SNAPSHOT_START && snapshot === null) return firstRun(session, request, open, saved);
  if (slot === null)
    throw slotMissing(request.slot, `, though the pipeline has an offset (${saved.watermark})`);
  const reading = inSnapshot(saved.watermark);
  const lsn = reading ? parseLsn(snapshot?.snapshotLsn ?? '') : logLsn(saved.watermark);
  if (lsn === null || slot.confirmed > lsn) throw slotAdvanced(request.slot, slot.confirmed, saved.watermark);
  const identity = reading ? { ...session.identity, ...snapshot } : session.identity;
  return resuming(saved, lsn, slot.confirmed, { identity, watermark: saved.watermark });
}

function resuming(offset: Offset | null, lsn: Lsn, confirmed: Lsn, seed: OffsetSeed): StartingPoint {
  return { offset, lsn, confirmed, seed, exportedSnapshot: null, release: () => Promise.resolve() };
}

function logLsn(position: string): Lsn | null {
  const parsed = parsePosition(position);
  return parsed.kind === 'log' ? parsed.lsn : null;
}

/** The slot is there, the offset is not: the slot remembers what was confirmed, which was saved before. */
function withoutOffset(
  { identity }: Session,
  { config, slot: name, log }: SessionRequest,
  slot: SlotFacts,
): StartingPoint {
  if (config.start === 'snapshot') {
    throw postgresError(
      'PG_OFFSET_MISSING',
      `The replication slot ${name} is there, but the offset store has nothing for this pipeline: it can't be known whether its start snapshot was finished.`,
      `If it was, set start: 'now': the pipeline then resumes where the slot stands (${formatLsn(slot.confirmed)}). If not, drop the slot (select pg_drop_replication_slot(${quoteText(name)});) to take the snapshot again.`,
    );
  }
  const watermark = logPosition(slot.confirmed, 0);
  log.warn(
    { slot: name, position: watermark },
    'no saved offset, but the slot is there: resuming where the slot stands',
  );
  return resuming(null, slot.confirmed, slot.confirmed, { identity, watermark });
}

async function firstRun(
  session: Session,
  request: SessionRequest,
  open: OpenRequest,
  saved: Offset | null,
): Promise<StartingPoint> {
  const { sql } = session;
  if (!request.config.create) {
    throw slotMissing(
      request.slot,
      `, and create is off. Create it (select pg_create_logical_replication_slot(${quoteText(request.slot)}, 'pgoutput');), or set create: true`,
    );
  }
  await lockCreation(sql, request.slot, open.signal);
  try {
    // Who held the lock has made the slot, and may be reading. A claim would not tell, it would take the offset
    // away: what the owner noted of its snapshot is replaced by our identity.
    if ((await open.load())?.epoch !== saved?.epoch) {
      throw new StartOverError('another process has started the pipeline');
    }
    return request.config.start === 'snapshot' && session.table !== null
      ? await firstRunFromSnapshot(session, request, open)
      : await firstRunFromNow(session, request, open);
  } catch (error) {
    // 42710: the slot appeared since we looked.
    throw errorCodeOf(error) === '42710'
      ? new StartOverError('the slot was created by another process')
      : error;
  } finally {
    await sql.query('select pg_advisory_unlock_all()');
  }
}

async function firstRunFromNow(
  session: Session,
  request: SessionRequest,
  open: OpenRequest,
): Promise<StartingPoint> {
  const slot = await createSlot(request, session.sql, false, open.signal);
  request.log.info(
    { slot: request.slot, position: logPosition(slot.consistentPoint, 0) },
    'created the replication slot',
  );
  const seed = { identity: session.identity, watermark: logPosition(slot.consistentPoint, 0) };
  return resuming(null, slot.consistentPoint, slot.consistentPoint, seed);
}

/**
 * The offset says `snapshot:start` before there is a slot: should this process end in between, the next one
 * knows that nothing was handed out, drops the slot and takes the snapshot again.
 */
async function firstRunFromSnapshot(
  session: Session,
  request: SessionRequest,
  open: OpenRequest,
): Promise<StartingPoint> {
  const { sql, identity, server, table } = session;
  // Whether there are rows to read, and an order to read them in, must be known before the slot holds the log.
  if (table !== null && request.config.outbox !== null) {
    snapshotOrderColumns(table, request.config.outbox);
    await checkReadable(sql, table);
  }
  const claimed = await open.claim({ identity, watermark: SNAPSHOT_START });
  if (claimed.watermark !== SNAPSHOT_START) throw new StartOverError('another process took the snapshot');
  if ((await findSlot(sql, request.slot, server.version)) !== null) {
    await sql.query('select pg_drop_replication_slot($1)', [request.slot]);
  }
  const slot = await createSlot(request, sql, true, open.signal);
  try {
    const snapshotXids = await readExported(sql, slot.snapshotName ?? '');
    const seed = {
      identity: { ...identity, snapshotLsn: formatLsn(slot.consistentPoint), snapshotXids },
      watermark: SNAPSHOT_START,
    };
    const offset = await open.claim(seed);
    request.log.info(
      { slot: request.slot, consistentPoint: formatLsn(slot.consistentPoint) },
      'created the replication slot: reading the rows that are there',
    );
    return {
      offset,
      lsn: slot.consistentPoint,
      confirmed: slot.consistentPoint,
      seed,
      exportedSnapshot: slot.snapshotName,
      release: () => slot.release(),
    };
  } catch (error) {
    await slot.release();
    throw error;
  }
}

/** Fails where reading the snapshot would, for want of a right. */
async function checkReadable(sql: pg.Client, { sqlName }: TableFacts): Promise<void> {
  await sql.query('begin read only');
  try {
    await sql.query('set local row_security = off');
    await sql.query(`select xmin, * from ${sqlName} limit 0`);
  } finally {
    await sql.query('rollback');
  }
}

/** The transactions that the exported snapshot sees, to be known again when the snapshot itself is gone. */
async function readExported(sql: pg.Client, snapshotName: string): Promise<string> {
  await sql.query('begin isolation level repeatable read read only');
  try {
    await sql.query(`set transaction snapshot ${quoteText(snapshotName)}`);
    const { rows } = await sql.query<{ xids: string }>('select pg_current_snapshot()::text as xids');
    return rows[0]?.xids ?? '';
  } finally {
    await sql.query('rollback');
  }
}

/** One process at a time creates the slot; the lock goes with the session. */
async function lockCreation(sql: pg.Client, slot: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { rows } = await sql.query<{ locked: boolean }>(
      "select pg_try_advisory_lock(hashtext('strandline'), hashtext($1)) as locked",
      [slot],
    );
    if (rows[0]?.locked === true) return;
    await sleep(200, undefined, { signal });
  }
}
