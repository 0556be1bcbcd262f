import { PAYLOAD_START, payloadEnd, type PayloadType } from '../payload.js';

/** `key` is a word of the language. */
export const KEY = '`key`';

const COLUMN_TYPES: Readonly<Record<PayloadType, string>> = { text: 'mediumtext', json: 'json' };

export function createOutbox(payload: PayloadType): string {
  return `create table outbox (
    id bigint auto_increment primary key,
    ${KEY} bigint not null,
    type varchar(40) not null,
    payload ${COLUMN_TYPES[payload]} not null
  )`;
}

/** The payload as an SQL expression. */
export function payloadSql(ordinal: string, bytes?: number): string {
  return `concat('${PAYLOAD_START}', ${ordinal}, '${payloadEnd(bytes)}')`;
}
