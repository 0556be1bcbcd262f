/** The row of a query that always has exactly one. */
export function onlyRow<Row>(rows: readonly Row[], sql: string): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`Not one row but ${String(rows.length)} of: ${sql}`);
  return row;
}
