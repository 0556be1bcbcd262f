export function insertInto(table: string, columns: readonly string[], rows: number): string {
  const values = Array.from({ length: rows }, () => `(${marks(columns.length)})`).join(', ');
  return `insert into ${table} (${columns.join(', ')}) values ${values}`;
}

/** `?, ?, ?` */
export function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}
