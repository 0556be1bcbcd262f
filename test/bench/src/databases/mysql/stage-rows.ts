import type { Connection } from 'mysql2/promise';
import type { KeyChoice } from '../key-choice.js';
import { stagedRows } from '../staged-rows.js';
import { KEY } from './outbox.js';

const ROWS_A_STATEMENT = 10_000;

/** Writes down which row gets which key, and its ordinal there, for the procedure that fills the outbox. */
export async function stage(sql: Connection, rows: number, choice: KeyChoice): Promise<void> {
  await sql.query(`create table staged (i int primary key, ${KEY} bigint not null, ordinal int not null)`);
  for (const { numbers, keys, ordinals } of stagedRows(rows, choice, ROWS_A_STATEMENT)) {
    const values = numbers.map((number, index) => [number, keys[index], ordinals[index]]);
    await sql.query('insert into staged values ?', [values]);
  }
}
