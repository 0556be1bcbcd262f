import { IdSet, type Ids } from '@strandline/source-kit';
import { mysqlError } from './errors.js';
import { LiveLog } from './live-log.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import { parseExecuted, withGtid } from './gtids.js';
import { createPending } from './pending.js';
import { compareFiles, parsePosition } from './position.js';

/**
 * The ids of the outbox rows that were committed between two places of the log. Needed when an interrupted
 * snapshot is read on in a new one: rows that the stream delivers must not come out of the table as well. Throws
 * `MYSQL_SNAPSHOT_STALE` when they are more than can be kept.
 */
export async function insertedBetween(
  options: Omit<LiveLogOptions, 'start' | 'pending'>,
  start: LogPlace,
  end: LogPlace,
  signal: AbortSignal,
  ids = new IdSet(),
): Promise<Ids> {
  const pending = createPending();
  const live = new LiveLog({ ...options, start, pending });
  const wake = (): void => {
    pending.wake();
  };
  signal.addEventListener('abort', wake, { once: true });
  try {
    if (atEnd(options, start, end)) return ids;
    await live.start();
    for (;;) {
      signal.throwIfAborted();
      const batch = pending.take(() => true);
      if (batch === null) {
        if (live.failure !== null) throw live.failure.error;
        await pending.arrival();
        continue;
      }
      live.resume();
      for (const event of batch.events) if (!ids.add(event.id)) throw tooMany(options.table.label);
      if (batch.passed !== null && reached(options, batch.passed, end)) return ids;
    }
  } finally {
    signal.removeEventListener('abort', wake);
    live.close();
  }
}

function tooMany(label: string): Error {
  return mysqlError(
    'MYSQL_SNAPSHOT_STALE',
    `Since the start snapshot of ${label} was taken, more rows were inserted than can be kept in mind to read it on.`,
    "Start under a new pipeline name with start: 'snapshot' to take it again: what was handled of it comes again.",
  );
}

type Facts = Pick<LiveLogOptions, 'facts'>;

function atEnd({ facts }: Facts, start: LogPlace, end: LogPlace): boolean {
  return facts.gtids ? start.executed === end.executed : compareFiles(start.at, end.at) >= 0;
}

function reached({ facts }: Facts, passed: string, end: LogPlace): boolean {
  const position = parsePosition(passed);
  if (position.kind !== 'log') return false;
  if (!facts.gtids) return compareFiles(position.at, end.at) >= 0;
  // The last transaction of the end is the one whose passing completes the set.
  const { gtid, executed } = position;
  return gtid !== '' && parseExecuted(facts.flavour, withGtid(executed, gtid)).covers(end.executed);
}
