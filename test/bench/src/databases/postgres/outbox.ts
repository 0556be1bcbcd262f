import { PAYLOAD_END, PAYLOAD_START, type PayloadType } from '../payload.js';

export const PUBLICATION = 'bench';

const COLUMN_TYPES: Readonly<Record<PayloadType, string>> = { text: 'text', json: 'jsonb' };

export function createOutbox(payload: PayloadType): string {
  return `
    create table outbox (
      id bigint generated always as identity primary key,
      key bigint not null,
      type text not null,
      payload ${COLUMN_TYPES[payload]} not null
    );
    create publication ${PUBLICATION} for table outbox
      with (publish = 'insert', publish_via_partition_root = true)`;
}

/** The payload as an SQL expression. */
export function payloadSql(ordinal: string, type: PayloadType): string {
  return `('${PAYLOAD_START}' || ${ordinal} || '${PAYLOAD_END}')::${COLUMN_TYPES[type]}`;
}
