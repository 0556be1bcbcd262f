import type pg from 'pg';
import { drawn, names, type Said } from './columns.js';
import type { PostgresColumn } from './postgres-types.js';

/** As the source's own sessions are set, which the server's defaults, roles and databases may not change. */
const PRINTED = `SET datestyle = 'ISO,YMD'; SET intervalstyle = 'postgres'; SET timezone = 'UTC'; SET extra_float_digits = 1;
  SET bytea_output = 'hex'; SET lc_monetary = 'C'; SET xmlbinary = 'base64'`;

/** The columns c0, c1, … in a table. */
export function declared(columns: readonly PostgresColumn[]): string {
  return columns.map(({ type }, index) => `c${String(index)} ${type}`).join(', ');
}

/** Inserts what was drawn, in one statement; resolves with the number of rows. */
export async function insertDrawn(sql: pg.Pool, columns: readonly PostgresColumn[]): Promise<number> {
  const values = drawn(columns);
  const casts = columns.map(({ type }, index) => `v.c${String(index)}::${type}`);
  const given = columns.map((_, index) => `$${String(index + 1)}::text[]`);
  await sql.query(
    `INSERT INTO outbox SELECT v.id, ${casts.join(', ')}
       FROM unnest(${given.join(', ')}) WITH ORDINALITY v (${names(columns.length).join(', ')}, id)`,
    values as (string | null)[][],
  );
  return values[0]?.length ?? 0;
}

/** What SELECT gives, in the server's own texts. */
export async function selected(pool: pg.Pool): Promise<Said> {
  const session = await pool.connect();
  try {
    await session.query(PRINTED);
    const { rows } = await session.query<string[]>({
      text: 'SELECT * FROM outbox',
      rowMode: 'array',
      types: { getTypeParser: () => (text: string) => text },
    } as unknown as pg.QueryArrayConfig);
    return new Map(rows.map(([id = '', ...texts]) => [id, texts]));
  } finally {
    session.release(true);
  }
}
