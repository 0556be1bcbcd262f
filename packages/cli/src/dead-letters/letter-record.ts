import {
  recordOf,
  withoutCredentials,
  type DeadLetter,
  type EventRecord,
  type Failure,
} from '@strandline/core';

/** A letter in full, payload included, as JSON can hold it: what `show` and `export` tell. */
export interface LetterRecord extends Pick<DeadLetter, 'id' | 'place' | 'state' | 'reason' | 'parkedAt'> {
  readonly failure: Failure | null;
  readonly event: EventRecord;
}

export function letterRecord({
  id,
  place,
  state,
  reason,
  parkedAt,
  failure,
  event,
}: DeadLetter): LetterRecord {
  return { id, place, state, reason, parkedAt, failure: failure && fit(failure), event: recordOf(event) };
}

/** What `list` tells of a letter: nothing that the application has put into the event but key, id and type. */
export interface LetterSummary extends Pick<DeadLetter, 'id' | 'place' | 'state' | 'reason' | 'parkedAt'> {
  readonly key: string;
  readonly event: string;
  readonly type: string | null;
  readonly position: string;
  readonly attempts: number;
  readonly lastFailedAt: string | null;
  readonly error: { readonly name: string; readonly code: string | null; readonly message: string } | null;
}

export function letterSummary(letter: DeadLetter): LetterSummary {
  const { id, place, state, reason, parkedAt, event, failure } = letter;
  const { name, code, message } = failure?.error ?? {};
  return {
    ...{ id, place, state, reason, parkedAt },
    ...{ key: event.key, event: event.id, type: event.type, position: event.position },
    attempts: failure?.attempts ?? 0,
    lastFailedAt: failure?.lastFailedAt ?? null,
    error:
      name === undefined ? null : { name, code: code ?? null, message: withoutCredentials(message ?? '') },
  };
}

/** An error of a handler is text of somebody else, and drivers put connection strings into theirs. */
function fit({ error, ...failure }: Failure): Failure {
  const { message, stack } = error;
  return {
    ...failure,
    error: { ...error, message: withoutCredentials(message), stack: withoutCredentials(stack) },
  };
}
