import { IdSet, type Ids } from '@strandline/source-kit';
import { mysqlError } from './errors.js';
import { LiveLog } from './live-log.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import { parseExecuted } from './gtids.js';
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
  const before = parseExecuted(facts.flavour, position.executed);
  const wanted = parseExecuted(facts.flavour, end.executed);
  return (
    position.gtid !== '' && !before.contains(position.gtid) && covers(facts.flavour, position, wanted.text)
  );
}

function covers(
  flavour: 'mysql' | 'mariadb',
  position: { gtid: string; executed: string },
  wanted: string,
): boolean {
  const text =
    flavour === 'mysql'
      ? [position.executed, position.gtid].filter(Boolean).join(',')
      : merged(position.executed, position.gtid);
  return parseExecuted(flavour, text).text === wanted || isPast(flavour, text, wanted);
}

function merged(executed: string, gtid: string): string {
  const [domain] = gtid.split('-');
  return [
    ...executed.split(',').filter((entry) => entry !== '' && entry.split('-')[0] !== domain),
    gtid,
  ].join(',');
}

/** Everything of `wanted` is in `text`: checked by the last GTID of each of its intervals. */
function isPast(flavour: 'mysql' | 'mariadb', text: string, wanted: string): boolean {
  const set = parseExecuted(flavour, text);
  return lastGtids(flavour, wanted).every((gtid) => set.contains(gtid));
}

function lastGtids(flavour: 'mysql' | 'mariadb', text: string): string[] {
  if (flavour === 'mariadb') return text.split(',').filter(Boolean);
  return text
    .split(',')
    .filter(Boolean)
    .flatMap((entry) => {
      const [uuid = '', ...intervals] = entry.split(':');
      return intervals
        .filter((part) => /^\d/.test(part))
        .map((part) => `${uuid}:${part.split('-').at(-1) ?? ''}`);
    });
}
