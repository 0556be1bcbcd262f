import { postgresError } from '../errors.js';
import { formatLsn, type Lsn } from '../lsn.js';

const REMEDY =
  'What was released to the server is gone for good. For the next time set postgres({ retention: { age, bytes } }): the slot is then held back so far behind the saved offset. ' +
  "Rows that are still in the table can be had with a new pipeline and start: 'snapshot'.";

/** @param from a position or a time */
export function historyGone(slot: string, reachesBackTo: Lsn, from: string): Error {
  return postgresError(
    'PG_HISTORY_GONE',
    `The log of the replication slot ${slot} reaches back to ${formatLsn(reachesBackTo)} only, and what follows ${from} was asked for.`,
    REMEDY,
  );
}

export function noHistory(slot: string, from: string): Error {
  return postgresError(
    'PG_HISTORY_GONE',
    `There is no replication slot ${slot}: nothing keeps the log, and what follows ${from} was asked for.`,
    'The slot is made when the pipeline first starts, and the log can be read again from there on.',
  );
}

export function onlyInSnapshot(from: string): Error {
  return postgresError(
    'PG_HISTORY_GONE',
    `${from} lies in the start snapshot, which was read from the table and not from the log.`,
    "Read the log from where it begins (earliest); rows that are still in the table can be had with a new pipeline and start: 'snapshot'.",
  );
}
