import { SNAPSHOT_START } from '@strandline/source-kit';
import type { Offset, OffsetSeed, OpenRequest, SourceIdentity } from '@strandline/core';
import { isTransient } from './connect-errors.js';
import { connectLog, type ConnectedLog } from './connect-log.js';
import { mysqlError } from './errors.js';
import { checkIdentity, checkReachable, logPlaceOf, type MysqlIdentity } from './identity.js';
import { insertedBetween } from './inserted-between.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import { parseLogPosition, placePosition } from './position.js';
import { readLogEnd, readLogStart } from './server.js';
import type { Session } from './session.js';
import { openSnapshot, type SnapshotSessions } from './snapshot.js';
import { SnapshotPhase } from './snapshot-phase.js';
import { snapshotOrder } from './snapshot-reader.js';
import { streamError } from './stream-errors.js';
import { refusePrepared } from './undecided-xa.js';

/** Another process got in between: look at everything anew. */
export class StartOverError extends Error {
  override readonly name = 'StartOverError';
}

/** From where the owner of a pipeline reads. */
export interface StartingPoint {
  readonly offset: Offset;
  readonly place: LogPlace;
  readonly identity: SourceIdentity;
  /** What comes before the log: the rest of the start snapshot. */
  readonly snapshot: SnapshotPhase | null;
  /** The log, where no snapshot comes before it: the server has begun to send it. */
  readonly connected: ConnectedLog | null;
}

type Live = Omit<LiveLogOptions, 'start'>;

/** Compares what was saved with what the server has. */
export async function startingPoint(
  live: Live,
  identity: MysqlIdentity,
  open: OpenRequest,
): Promise<StartingPoint> {
  const saved = await open.load();
  const sql = await live.connector.connect();
  try {
    if (saved === null) return await firstRun(live, identity, open);
    checkIdentity(live.facts, saved, identity);
    const place = logPlaceOf(saved.watermark);
    if (place === null) return await resumeSnapshot(live, identity, saved, open);
    await checkReachable(sql, live.facts, place, saved.watermark);
    return await claimLog(live, place, { identity, watermark: saved.watermark }, open);
  } finally {
    sql.destroy();
  }
}

async function firstRun(live: Live, identity: MysqlIdentity, open: OpenRequest): Promise<StartingPoint> {
  const { config, connector, facts } = live;
  if (config.start === null) throw offsetMissing(open.pipeline);
  if (config.start === 'snapshot') return firstSnapshot(live, identity, open);
  const sql = await connector.connect();
  try {
    if (config.start === 'now') await refusePrepared(sql, config);
    const place = config.start === 'now' ? await readLogEnd(sql, facts) : await readLogStart(sql, facts);
    const watermark = placePosition(facts.server, place);
    const start = await claimLog(live, place, { identity, watermark }, open);
    live.log.info({ position: watermark }, 'first start of this pipeline');
    return start;
  } finally {
    sql.destroy();
  }
}

/**
 * Has the server send its log, and then claims the offset: what the server says only to who asks for the log is an
 * error of the start, and leaves no offset behind.
 */
async function claimLog(
  live: Live,
  place: LogPlace,
  seed: OffsetSeed,
  open: OpenRequest,
): Promise<StartingPoint> {
  const { watermark } = seed;
  const connected = await connectLog({
    live,
    start: place,
    from: parseLogPosition(watermark),
    watermark,
    layouts: null,
    signal: open.signal,
  }).catch((error: unknown) => {
    throw isTransient(error) ? error : streamError(error, watermark);
  });
  try {
    const offset = await open.claim(seed);
    if (offset.watermark !== watermark) throw new StartOverError('the offset moved meanwhile');
    return { offset, place, identity: {}, snapshot: null, connected };
  } catch (error) {
    connected.log.close();
    throw error;
  }
}

async function firstSnapshot(live: Live, identity: MysqlIdentity, open: OpenRequest): Promise<StartingPoint> {
  return withSnapshot(live, open, async (sessions, order) => {
    await refusePrepared(sessions.locker, live.config);
    const place = await openSnapshot(sessions, live.facts, live.table, live.log, open.signal);
    const extra = snapshotIdentity(place);
    const offset = await open.claim({ identity: { ...identity, ...extra }, watermark: SNAPSHOT_START });
    if (offset.watermark !== SNAPSHOT_START)
      throw new StartOverError('another process made the first offset');
    live.log.info(
      { position: extra['snapshotAt'] },
      'first start of this pipeline: reading the rows that are there',
    );
    const { sql } = sessions;
    const snapshot = new SnapshotPhase({ live, sql, order, offset, place, streamed: new Set() });
    return { offset, place, identity: extra, snapshot, connected: null };
  });
}

/** The first snapshot is gone: a new one is read on after the watermark, without what the stream delivers. */
async function resumeSnapshot(
  live: Live,
  identity: MysqlIdentity,
  saved: Offset,
  open: OpenRequest,
): Promise<StartingPoint> {
  const place = placeOf(saved);
  return withSnapshot(live, open, async (sessions, order) => {
    await checkReachable(sessions.locker, live.facts, place, saved.watermark);
    const now = await openSnapshot(sessions, live.facts, live.table, live.log, open.signal);
    const streamed = await insertedBetween(live, place, now, open.signal);
    const extra = snapshotIdentity(place);
    const offset = await open.claim({ identity: { ...identity, ...extra }, watermark: saved.watermark });
    if (offset.watermark !== saved.watermark) throw new StartOverError('the offset moved meanwhile');
    const { sql } = sessions;
    const snapshot = new SnapshotPhase({ live, sql, order, offset, place, streamed });
    return { offset, place, identity: extra, snapshot, connected: null };
  });
}

/** The session of the snapshot lives on in the starting point; whatever fails ends it. */
async function withSnapshot(
  { connector, table, config }: Live,
  { signal }: OpenRequest,
  work: (sessions: SnapshotSessions, order: readonly string[]) => Promise<StartingPoint>,
): Promise<StartingPoint> {
  const locker = await connector.connect();
  const abort = (): void => {
    locker.destroy();
  };
  signal.addEventListener('abort', abort, { once: true });
  let sql: Session | null = null;
  try {
    // Whether there is an order to read in must be known first.
    const order = await snapshotOrder(locker, table, config.outbox);
    sql = await connector.connect();
    return await work({ sql, locker }, order);
  } catch (error) {
    sql?.destroy();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    locker.destroy();
  }
}

function offsetMissing(pipeline: string): Error {
  return mysqlError(
    'MYSQL_OFFSET_MISSING',
    `There is no saved offset of the pipeline ${pipeline}, and a binlog can't tell whether it ever ran.`,
    "If it never did, say where it begins: mysql({ start: 'now' }), 'earliest' or 'snapshot', for the first start. If it did, put its offset back " +
      "(strandline offsets import, or offsets set with a position or bookmark), or start with 'earliest' or 'snapshot', which deliver again what they reach.",
  );
}

function snapshotIdentity({ at, executed }: LogPlace): SourceIdentity {
  return { snapshotAt: `${at.file}:${String(at.offset)}`, snapshotExecuted: executed };
}

function placeOf({ identity, watermark }: Offset): LogPlace {
  const match = /^(.+):(\d+)$/.exec(identity['snapshotAt'] ?? '');
  if (match === null) {
    throw mysqlError(
      'MYSQL_OFFSET_MISSING',
      'The saved offset stands in a start snapshot and does not say where in the log that was taken.',
      'Start under a new pipeline name to take the snapshot again.',
      { position: watermark },
    );
  }
  return {
    at: { file: match[1] ?? '', offset: Number(match[2]) },
    executed: identity['snapshotExecuted'] ?? '',
  };
}
