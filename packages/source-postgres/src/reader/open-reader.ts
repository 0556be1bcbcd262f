import type { LogReader, LogReaderRequest, LogStart } from '@strandline/core';
import { endClient } from '../connection.js';
import type { DecoderSink, ResumePoint } from '../decoder.js';
import { postgresError } from '../errors.js';
import { checkHistoryOf, checkOwner } from '../identity.js';
import { LiveLog } from '../live-log.js';
import type { Lsn } from '../lsn.js';
import { createPending, type PostgresPending } from '../pending.js';
import { logPosition, parsePosition } from '../position.js';
import { openSession, type Session, type SessionRequest } from '../session.js';
import { parseMicros } from '../timestamps.js';
import { flushedEnd } from '../wal-end.js';
import { FromTime } from './from-time.js';
import { historyGone, noHistory, onlyInSnapshot } from './history-gone.js';
import { PostgresLogReader } from './log-reader.js';
import { reachesBackTo } from './reaches-back.js';
import { FreshSlot, SlotCopy, type TemporarySlot } from './temporary-slot.js';

/** From where, and through what, a log is read. */
interface Beginning {
  readonly slot: TemporarySlot;
  readonly resume: ResumePoint;
  readonly time: FromTime | null;
}

/**
 * Opens a reader beside the owner. It creates nothing that outlives its session; throws `PG_HISTORY_GONE` when the log
 * does not reach back that far, `PG_SLOT_LIMIT` when there is no room for a slot of its own.
 */
export async function openLogReader(
  request: SessionRequest,
  { from, signal, log }: LogReaderRequest,
): Promise<LogReader> {
  const { slot: name } = request;
  const session = await openSession(request, null);
  let live: LiveLog | null = null;
  try {
    signal.throwIfAborted();
    const pending = createPending();
    const { slot, resume, time } = await beginning(session, request, { from, signal, log }, pending);
    const sink = time ?? fromSlot(slot, pending);
    // Nothing is confirmed before it is handed over: 0 says nothing to the server.
    live = await LiveLog.start(session, { request, resume, slot, confirmed: 0n, pending, sink });
    let start = isAfter(from) ? from.after : logPosition(slot.begins, 0);
    if (time !== null) {
      const found = await untilFound(time, live, pending, signal);
      if (found > slot.begins) start = logPosition(found, 0);
      await checkReach(time, session, { slot: name, begins: slot.begins, log });
    }
    signal.throwIfAborted();
    return new PostgresLogReader({ request, identity: session.identity, start, pending, live, log, signal });
  } catch (error) {
    await live?.close();
    await endClient(session.sql);
    throw error;
  }
}

/** The server can tell of places that lie before the slot's, from which it decodes without sending. */
function fromSlot(slot: TemporarySlot, pending: PostgresPending): DecoderSink {
  return {
    event: (event, context) => {
      pending.event(event, context);
    },
    passed: (lsn, context) => {
      if (lsn >= slot.begins) pending.passed(lsn, context);
    },
  };
}

function isAfter(from: LogStart): from is Extract<LogStart, { readonly after: string }> {
  return typeof from === 'object' && 'after' in from;
}

async function beginning(
  session: Session,
  request: SessionRequest,
  { from, signal, log }: Pick<LogReaderRequest, 'from' | 'signal' | 'log'>,
  pending: PostgresPending,
): Promise<Beginning> {
  const { slot: name, connector, config } = request;
  const { sql, server, identity } = session;
  if (from === 'now') {
    // The server itself begins where the slot does, which lies further on.
    const resume = { lsn: server.walEnd, ordinal: 0 };
    return { slot: new FreshSlot(name, { sql, log, signal }), resume, time: null };
  }
  const deadline = config.silenceTimeout;
  if (isAfter(from)) {
    const { after } = from;
    checkOwner({ identity: from.identity, watermark: after }, identity);
    const position = parsePosition(after);
    if (position.kind === 'snapshot') throw onlyInSnapshot(after);
    if (session.slot === null) throw noHistory(name, after);
    await checkHistoryOf({ identity: from.identity, watermark: after }, connector, server, identity);
    const slot = new SlotCopy({ slot: name, from: { lsn: position.lsn, text: after }, deadline });
    return { slot, resume: { lsn: position.lsn, ordinal: position.ordinal }, time: null };
  }
  const text = from === 'earliest' ? 'its beginning' : from.time;
  const micros = from === 'earliest' ? null : parseTime(from.time);
  if (session.slot === null) throw noHistory(name, text);
  const { confirmed: begins } = session.slot;
  const resume = { lsn: begins, ordinal: 0 };
  const slot = new SlotCopy({ slot: name, from: null, deadline });
  if (micros === null) return { slot, resume, time: null };
  const time = new FromTime({ pending, time: micros, text, head: await flushedEnd(sql), begins });
  return { slot, resume, time };
}

function parseTime(text: string): bigint {
  const time = parseMicros(text);
  if (time !== null) return time;
  throw postgresError(
    'PG_POSITION',
    `${JSON.stringify(text)} is not a time.`,
    'Write it as ISO 8601 with its offset, such as 2026-11-30T06:20:45Z.',
  );
}

/** Reads on to the first transaction at that time or later, or to where the log ended when reading began. */
async function untilFound(
  time: FromTime,
  live: LiveLog,
  pending: PostgresPending,
  signal: AbortSignal,
): Promise<Lsn> {
  const wake = (): void => {
    pending.wake();
  };
  signal.addEventListener('abort', wake, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      if (time.start !== null) return time.start;
      if (live.failure !== null) throw live.failure.error;
      await pending.arrival();
    }
  } finally {
    signal.removeEventListener('abort', wake);
  }
}

/** Was something at that time or later released before? Refused when that is certain, and said when it can't be told. */
async function checkReach(
  time: FromTime,
  { sql }: Session,
  {
    slot,
    begins,
    log,
  }: { readonly slot: string; readonly begins: Lsn; readonly log: LogReaderRequest['log'] },
): Promise<void> {
  if (time.sawEarlier) return;
  const reach = await reachesBackTo(sql, begins, time.time);
  if (reach === 'no') throw historyGone(slot, begins, time.text);
  if (reach === 'yes') return;
  log.warn(
    { time: time.text, begins: logPosition(begins, 0) },
    'the log has nothing from before that time: whether it reaches back so far can not be told',
  );
}
