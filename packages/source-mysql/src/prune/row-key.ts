import { queryRows, quoteText } from '../connection.js';
import { mysqlError } from '../errors.js';
import type { Session } from '../session.js';
import type { TableFacts } from '../table.js';

export interface KeyColumn {
  readonly name: string;
  /** As the catalog has it, in lower case: `bigint unsigned`. */
  readonly type: string;
}

interface Index {
  readonly columns: readonly string[];
  /** No two rows share a key, and each has one. */
  readonly unique: boolean;
}

/** The indexes of a table that have all of its rows in order, the primary key first. */
export async function findIndexes(sql: Session, { schema, name }: TableFacts): Promise<readonly Index[]> {
  const rows = await queryRows(
    sql,
    `select index_name as "index", column_name as name, non_unique as shared, nullable as nullable
     from information_schema.statistics where table_schema = ? and table_name = ? and index_type = 'BTREE'
     order by index_name <> 'PRIMARY', index_name, seq_in_index`,
    [schema, name],
  );
  const indexes = new Map<string, { columns: string[]; unique: boolean }>();
  for (const row of rows) {
    const index = indexes.get(row['index'] ?? '') ?? { columns: [], unique: true };
    // A part of an expression has no column.
    index.columns.push(row['name'] ?? '');
    index.unique &&= String(row['shared']) === '0' && row['nullable'] !== 'YES' && row['name'] !== null;
    indexes.set(row['index'] ?? '', index);
  }
  return [...indexes.values()];
}

/** The columns of the primary key, or of another one that no two rows share. Throws `MYSQL_PRUNE_KEY` when there is none. */
export function keyOf(indexes: readonly Index[], table: TableFacts): readonly KeyColumn[] {
  const index = indexes.find(({ unique }) => unique);
  if (index !== undefined) {
    return index.columns.map((name) => ({
      name,
      type: table.columns.find((column) => column.name === name)?.type ?? '',
    }));
  }
  throw mysqlError(
    'MYSQL_PRUNE_KEY',
    `The table ${table.label} has no primary key: rows can't be deleted one by one.`,
    `Run: alter table ${table.label} add primary key (…);`,
  );
}

const BYTES = /binary|blob|^bit/;
const NUMBER = /^(tinyint|smallint|mediumint|int|bigint|decimal|year)/;

/** What the server sent for a column of a key, as the text that `literalOf` takes. */
export function textOf(bytes: Buffer | null, type: string): string {
  if (bytes === null) return '';
  return bytes.toString(BYTES.test(type) ? 'hex' : 'utf8');
}

/** The same in SQL. A number is no text there: the server would compare both as floating point, and read the whole table. */
export function literalOf(text: string, type: string): string {
  if (BYTES.test(type)) return `X'${text}'`;
  return NUMBER.test(type) && /^-?\d+(\.\d+)?$/.test(text) ? text : quoteText(text);
}
