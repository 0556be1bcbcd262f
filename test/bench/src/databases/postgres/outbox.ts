/** The outbox of the benchmarks: the table, and how a row carries the ordinal within its key. */

export type PayloadType = 'text' | 'jsonb';

export const PUBLICATION = 'bench';

/** About what an order's event weighs. */
const FILLING = 'x'.repeat(100);

export function createOutbox(payload: PayloadType): string {
  return `
    create table outbox (
      id bigint generated always as identity primary key,
      key bigint not null,
      type text not null,
      payload ${payload} not null
    );
    create publication ${PUBLICATION} for table outbox
      with (publish = 'insert', publish_via_partition_root = true)`;
}

/**
 * The payload as an SQL expression. Text and jsonb print it the same way: jsonb puts shorter keys first and a
 * space after each colon.
 */
export function payloadSql(ordinal: string, type: PayloadType): string {
  return `('{"n": ' || ${ordinal} || ', "note": "${FILLING}"}')::${type}`;
}

/** Reads the ordinal from the start of the payload's text: cheaper than the work that is measured. */
export function ordinalOf(payloadText: string): number {
  return Number.parseInt(payloadText.slice(PREFIX_LENGTH), 10);
}

const PREFIX_LENGTH = '{"n": '.length;
