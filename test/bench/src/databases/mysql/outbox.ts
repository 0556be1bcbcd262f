import { PAYLOAD_END, PAYLOAD_START, type PayloadType } from '../payload.js';

/** `key` is a word of the language. */
export const KEY = '`key`';

export function createOutbox(payload: PayloadType): string {
  return `create table outbox (
    id bigint auto_increment primary key,
    ${KEY} bigint not null,
    type varchar(40) not null,
    payload ${payload} not null
  )`;
}

/** The payload as an SQL expression. */
export function payloadSql(ordinal: string): string {
  return `concat('${PAYLOAD_START}', ${ordinal}, '${PAYLOAD_END}')`;
}
