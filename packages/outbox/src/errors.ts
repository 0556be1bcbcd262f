/**
 * The closed set of codes of this package. All of them are found before a statement is sent, so the transaction of the
 * application is as it was, but for `OUTBOX_NOT_PARTITIONED`. Errors of the database pass through as the library
 * throws them, since the application's own retries know those.
 *
 * - `OUTBOX_CONFIG`: wrong options, or an executor that can't do what is asked.
 * - `OUTBOX_EVENT`: the event's id, type, headers or columns can't be written.
 * - `OUTBOX_KEY`: the key is missing, too long, or not a text that the source will read as it was given.
 * - `OUTBOX_PAYLOAD`: something in the payload has no JSON and would be lost or changed.
 * - `OUTBOX_PAYLOAD_TOO_LARGE`: more bytes than `limits.payload`.
 * - `OUTBOX_NOT_PARTITIONED`: the table that should get partitions is missing, or has none.
 */
export type OutboxErrorCode =
  | 'OUTBOX_CONFIG'
  | 'OUTBOX_EVENT'
  | 'OUTBOX_KEY'
  | 'OUTBOX_PAYLOAD'
  | 'OUTBOX_PAYLOAD_TOO_LARGE'
  | 'OUTBOX_NOT_PARTITIONED';

/** What an error carries beside its message. Never a payload, never a header. */
export interface OutboxErrorDetails {
  readonly cause?: unknown;
  readonly key?: string | undefined;
  /** Bytes. */
  readonly size?: number | undefined;
  /** Bytes. */
  readonly limit?: number | undefined;
}

export class OutboxError extends Error {
  override readonly name = 'OutboxError';
  readonly code: OutboxErrorCode;
  /** What can be done about it. */
  readonly remedy: string;
  readonly key: string | undefined;
  readonly size: number | undefined;
  readonly limit: number | undefined;

  constructor(code: OutboxErrorCode, problem: string, remedy: string, details: OutboxErrorDetails = {}) {
    super(`${problem} ${remedy}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.remedy = remedy;
    this.key = details.key;
    this.size = details.size;
    this.limit = details.limit;
  }
}

export function configError(problem: string, remedy = 'Correct the options.'): OutboxError {
  return new OutboxError('OUTBOX_CONFIG', problem, remedy);
}

const LONGEST_KEY_SHOWN = 80;

/** Tells which event a sentence is about. */
export function eventOf(key: string): string {
  const shown = key.length > LONGEST_KEY_SHOWN ? `${key.slice(0, LONGEST_KEY_SHOWN)}…` : key;
  return `the event with key ${JSON.stringify(shown)}`;
}

export function eventError(problem: string, remedy: string, key?: string): OutboxError {
  return new OutboxError('OUTBOX_EVENT', problem, remedy, { key });
}

export function keyError(problem: string, remedy: string): OutboxError {
  return new OutboxError('OUTBOX_KEY', problem, remedy);
}
