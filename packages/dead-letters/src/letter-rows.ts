import {
  identityOf,
  restoreEvent,
  type DeadLetter,
  type Failure,
  type FailureHistory,
  type LetterReason,
  type LetterState,
  type NewLetter,
  type OutboxEvent,
  type PayloadFormat,
} from '@strandline/core';
import type { Row, Value } from './dialect.js';
import type { Owner } from './owner-row.js';
import { integerOf, textOf, textOrNull } from './row.js';
import { hashOf, toStored, toStoredOrNull } from './text.js';

/** A letter with its place and state, as it is inserted. */
export interface PlacedLetter extends NewLetter {
  readonly owner: Pick<Owner, 'id' | 'pipeline'>;
  readonly identity: Buffer;
  readonly place: number;
  readonly state: LetterState;
  readonly parkedAt: string;
}

/** The same event of the same log, however often the log is read. */
export function identityHash(pipeline: string, event: OutboxEvent): Buffer {
  return hashOf(pipeline, event.key, ...identityOf(event));
}

/** Failures in columns. */
export const FAILURE = [
  ...(['error_name', 'error_message', 'error_code', 'error_stack'] as const),
  ...(['attempts', 'first_failed_at', 'last_failed_at', 'failure_history'] as const),
] as const;

/** What a letter is read from. */
const READ = [
  ...(['place', 'state', 'reason', 'parked_at', 'event_key', 'event_id', 'event_type'] as const),
  ...(['payload', 'payload_format', 'headers', 'extra_columns', 'log_position', 'event_table'] as const),
  ...(['transaction_id', 'ordinal', 'commit_time', 'bytes'] as const),
  ...FAILURE,
] as const;

export const INSERTED = ['pipeline', 'identity_hash', 'key_hash', ...READ] as const;
export const SELECTED = ['id', ...READ].join(', ');

export function toRow({ event, owner, ...letter }: PlacedLetter): Value[] {
  const { transaction } = event;
  return [
    ...[owner.id, letter.identity, hashOf(owner.pipeline, event.key)],
    ...[letter.place, letter.state, letter.reason, letter.parkedAt],
    ...[toStored(event.key), toStored(event.id), toStoredOrNull(event.type)],
    ...[toStoredOrNull(event.payloadText), event.payloadFormat, toStoredOrNull(event.headersText)],
    ...[toStored(JSON.stringify(event.columns)), toStored(event.position), toStored(event.table)],
    ...[toStored(transaction.id), transaction.ordinal, toStored(transaction.commitTime), event.bytes],
    ...toFailureColumns(letter.failure),
  ];
}

export function toFailureColumns(failure: Failure | null): Value[] {
  if (failure === null) return FAILURE.map(() => null);
  const { error, attempts, firstFailedAt, lastFailedAt, history } = failure;
  return [
    ...[toStored(error.name), toStored(error.message), toStoredOrNull(error.code), toStored(error.stack)],
    ...[attempts, firstFailedAt, lastFailedAt, toStored(JSON.stringify(history))],
  ];
}

export function fromRow(row: Row): DeadLetter {
  return {
    id: String(row['id']),
    place: integerOf(row, 'place'),
    event: eventOf(row),
    reason: textOf(row, 'reason') as LetterReason,
    state: textOf(row, 'state') as LetterState,
    failure: failureOf(row),
    parkedAt: textOf(row, 'parked_at'),
  };
}

function eventOf(row: Row): OutboxEvent {
  return restoreEvent({
    id: textOf(row, 'event_id'),
    key: textOf(row, 'event_key'),
    type: textOrNull(row, 'event_type'),
    payloadText: textOrNull(row, 'payload'),
    payloadFormat: textOf(row, 'payload_format') as PayloadFormat,
    headersText: textOrNull(row, 'headers'),
    columns: JSON.parse(textOf(row, 'extra_columns')) as Record<string, string | null>,
    position: textOf(row, 'log_position'),
    table: textOf(row, 'event_table'),
    transaction: {
      id: textOf(row, 'transaction_id'),
      ordinal: integerOf(row, 'ordinal'),
      commitTime: textOf(row, 'commit_time'),
    },
    bytes: integerOf(row, 'bytes'),
  });
}

export function failureOf(row: Row): Failure | null {
  if (row['attempts'] === null) return null;
  return {
    error: {
      name: textOf(row, 'error_name'),
      message: textOf(row, 'error_message'),
      code: textOrNull(row, 'error_code'),
      stack: textOf(row, 'error_stack'),
    },
    attempts: integerOf(row, 'attempts'),
    firstFailedAt: textOf(row, 'first_failed_at'),
    lastFailedAt: textOf(row, 'last_failed_at'),
    history: JSON.parse(textOrNull(row, 'failure_history') ?? '[]') as FailureHistory,
  };
}
