import { PAYLOAD_START, payloadEnd, type PayloadType } from '../payload.js';

export const PUBLICATION = 'bench';

const COLUMN_TYPES: Readonly<Record<PayloadType, string>> = { text: 'text', json: 'jsonb' };

/** Stored as it is: of a payload that compresses well the log would have little, and no reader could show how it bears a large one. */
export function createOutbox(payload: PayloadType): string {
  return `
    create table outbox (
      id bigint generated always as identity primary key,
      key bigint not null,
      type text not null,
      payload ${COLUMN_TYPES[payload]} not null
    );
    alter table outbox alter payload set storage external;
    create publication ${PUBLICATION} for table outbox
      with (publish = 'insert', publish_via_partition_root = true)`;
}

/** The payload as an SQL expression. */
export function payloadSql(ordinal: string, type: PayloadType, bytes?: number): string {
  return `('${PAYLOAD_START}' || ${ordinal} || '${payloadEnd(bytes)}')::${COLUMN_TYPES[type]}`;
}
