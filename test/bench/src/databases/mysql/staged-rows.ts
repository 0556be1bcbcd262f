import type { Connection } from 'mysql2/promise';
import { KEY } from './outbox.js';

const ROWS_A_STATEMENT = 10_000;
/** 2^32 divided by the golden ratio: its multiples are spread evenly, so keys come in no particular order. */
const SPREAD = 0x9e3779b1;

/** Writes down which row gets which key, and its ordinal there, for the procedure that fills the outbox. */
export async function stage(sql: Connection, rows: number, keys: number): Promise<void> {
  await sql.query(`create table staged (i int primary key, ${KEY} bigint not null, ordinal int not null)`);
  const ordinals = new Uint32Array(keys);
  for (let first = 1; first <= rows; first += ROWS_A_STATEMENT) {
    const count = Math.min(ROWS_A_STATEMENT, rows - first + 1);
    const values = Array.from({ length: count }, (_, index) => {
      const i = first + index;
      const key = (Math.imul(i, SPREAD) >>> 0) % keys;
      const ordinal = (ordinals[key] ?? 0) + 1;
      ordinals[key] = ordinal;
      return [i, key, ordinal];
    });
    await sql.query('insert into staged values ?', [values]);
  }
}
