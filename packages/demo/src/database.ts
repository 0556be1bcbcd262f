import pg from 'pg';

export function openPool(url: string, name: string, connections: number): pg.Pool & AsyncDisposable {
  const pool = new pg.Pool({ connectionString: url, max: connections, application_name: name });
  // A server that goes away says so by an event on the idle clients, which would end the process. The next query
  // fails with the same reason, where it can be handled.
  pool.on('error', () => undefined);
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}

/** The row of a query that always has exactly one. */
export async function queryOne<Row extends object>(
  db: pg.Pool | pg.PoolClient,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row> {
  const { rows } = await db.query<Row>(sql, [...values]);
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`Not one row but ${String(rows.length)} of: ${sql}`);
  return row;
}
