import { StrandlineError } from '@strandline/core';
import { errorCodeOf } from './connect-errors.js';
import { postgresError } from './errors.js';
import { slotLost, slotMissing } from './slot.js';

/** Explains why the server refused the stream, for a reason that no retry changes. */
export function streamError(error: unknown, slot: string, publication: string): Error {
  if (error instanceof StrandlineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  switch (errorCodeOf(error)) {
    // undefined_object: of a slot, or of the publication at that place in the log
    case '42704':
      if (message.includes('publication')) {
        return postgresError(
          'PG_PUBLICATION_MISSING',
          `The publication ${publication} did not exist yet at the slot's place in the log (${message}).`,
          'A slot can not decode a publication that is younger than itself. If nothing was committed in between that matters, drop the slot and start again.',
          { cause: error },
        );
      }
      return slotMissing(slot, ` (${message})`, error);
    // object_not_in_prerequisite_state and undefined_file: invalidated, or its log was removed
    case '55000':
    case '58P01':
      return slotLost(slot, message, error);
    case '42501':
      return postgresError(
        'PG_PRIVILEGE',
        `The server denied reading (${message}).`,
        "Grant the user what the message names; start: 'snapshot' needs select on the outbox table, and bypassrls where the table has row-level security.",
        { cause: error },
      );
    default:
      return postgresError(
        'PG_STREAM',
        `The server refused to stream from the slot ${slot} (${message}).`,
        "See the server's own log at this time for details.",
        { cause: error },
      );
  }
}
