import { NAMES_READ, TABLES_LOOKED_AT, type TableFacts, type TableName } from '../facts.js';
import { grouped } from '../grouped.js';
import { likeliest } from '../guess/table-names.js';
import { errnoOf, literal, qualified, type Row, type Session } from './session.js';

export interface Tables {
  /** Of all that are there, as far as they were counted. */
  readonly count: number;
  readonly tables: readonly TableFacts[];
}

/** The tables of the database that are most like an outbox, and the one that was named. */
export async function readTables(
  session: Session,
  database: string,
  named: TableName | null,
): Promise<Tables> {
  // Names alone are read from the folder; MariaDB opens every table for anything more.
  const names = (
    await session.rows(
      `select table_name as name from information_schema.tables where table_schema = ? limit ${String(NAMES_READ)}`,
      [database],
    )
  ).map((row) => ({ schema: database, name: row['name'] ?? '' }));
  const likely = likeliest(names, TABLES_LOOKED_AT);
  const isNamed = ({ schema, name }: TableName): boolean => schema === named?.schema && name === named.name;
  const looked = named === null || likely.some(isNamed) ? likely : [named, ...likely];
  if (looked.length === 0) return { count: 0, tables: [] };
  const rows = new Map((await session.rows(each(TABLE, looked))).map((row) => [row['name'], row]));
  const columns = grouped(await session.rows(each(COLUMNS, looked)), 'name');
  const documents = await jsonColumns(session, looked);
  return {
    count: names.length,
    tables: looked.flatMap(({ name }) => {
      const row = rows.get(name);
      return row === undefined ? [] : [tableFacts(row, columns.get(name) ?? [], documents)];
    }),
  };
}

const TABLE = `select table_schema as db, table_name as name, engine as engine, table_rows as \`rows\`
  from information_schema.tables where table_type = 'BASE TABLE'`;

const COLUMNS = `select table_name as name, column_name as \`column\`, lower(column_type) as type,
    is_nullable as nullable, column_key as \`key\`, ordinal_position as place
  from information_schema.columns where 1 = 1`;

const CHECKS = `select table_name as name, constraint_name as \`column\` from information_schema.check_constraints
  where level = 'Column' and check_clause like 'json_valid(%'`;

/** One question for many tables: with equality the server opens those tables alone, and not all that it has. */
function each(select: string, tables: readonly TableName[], schema = 'table_schema'): string {
  return tables
    .map(
      (table) =>
        `(${select} and ${schema} = ${literal(table.schema)} and table_name = ${literal(table.name)})`,
    )
    .join(' union all ');
}

/** No such column, no such table: MySQL lists checks with fewer columns. There JSON is a type. */
const NOT_LISTED = new Set([1054, 1109]);

/** MariaDB's JSON is a text column with a check that its text is JSON. As `table.column`. */
async function jsonColumns(session: Session, tables: readonly TableName[]): Promise<ReadonlySet<string>> {
  const rows = await session.rows(each(CHECKS, tables, 'constraint_schema')).catch((error: unknown) => {
    if (NOT_LISTED.has(errnoOf(error))) return [];
    throw error;
  });
  return new Set(rows.map((row) => `${row['name'] ?? ''}.${row['column'] ?? ''}`));
}

function tableFacts(row: Row, columns: readonly Row[], documents: ReadonlySet<string>): TableFacts {
  const name = row['name'] ?? '';
  const table = { schema: row['db'] ?? '', name };
  // A union has no order.
  const inOrder = columns.toSorted((a, b) => Number(a['place']) - Number(b['place']));
  return {
    ...table,
    columns: inOrder.map((column) => {
      const isDocument = documents.has(`${name}.${column['column'] ?? ''}`);
      return {
        name: column['column'] ?? '',
        type: isDocument ? 'json' : (column['type'] ?? ''),
        nullable: column['nullable'] === 'YES',
      };
    }),
    primaryKey: inOrder.filter((column) => column['key'] === 'PRI').map((column) => column['column'] ?? ''),
    rows: row['rows'] === null || row['rows'] === undefined ? null : Number(row['rows']),
    writes: null,
    obstacle:
      row['engine'] === 'InnoDB'
        ? null
        : {
            what: `Its engine is ${row['engine'] ?? '?'}: rows do not commit or roll back with the business data.`,
            sql: `alter table ${qualified(table)} engine = InnoDB;`,
          },
  };
}
