export const DIALECTS = ['postgres', 'mysql', 'mariadb'] as const;

export type Dialect = (typeof DIALECTS)[number];

export interface TableName {
  /** Of Postgres; of MySQL and MariaDB the database. Null: what the connection says. */
  readonly schema: string | null;
  readonly name: string;
}

/** The parts of `table` or `schema.table`. */
export function tableName(table: string): TableName {
  const dot = table.indexOf('.');
  return { schema: dot < 0 ? null : table.slice(0, dot), name: table.slice(dot + 1) };
}

/** A name as SQL has it, whatever is in it. */
export function quoted(dialect: Dialect, name: string): string {
  const mark = dialect === 'postgres' ? '"' : '`';
  return `${mark}${name.replaceAll(mark, mark + mark)}${mark}`;
}

export function quotedTable(dialect: Dialect, { schema, name }: TableName): string {
  return schema === null ? quoted(dialect, name) : `${quoted(dialect, schema)}.${quoted(dialect, name)}`;
}
