import type { Pool, RowDataPacket } from 'mysql2/promise';
import { errorField } from './database.js';
import { schemaError } from './errors.js';
import type { TableName, ValidOptions } from './options.js';

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** The table, as SQL has it. */
export function mysqlTable({ schema, name }: TableName): string {
  return schema === null ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
}

export function mysqlDdl(table: TableName): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${mysqlTable(table)} (inbox VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, event BINARY(32) NOT NULL, recorded_at DATETIME(6) NOT NULL, PRIMARY KEY (inbox, event), KEY recorded (inbox, recorded_at)) ENGINE=InnoDB`,
  ];
}

/** What the table is, as one text each: the columns, the primary key, and whether a transaction holds it together. */
const LOOK = `SELECT
    (SELECT GROUP_CONCAT(CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE) ORDER BY COLUMN_NAME SEPARATOR ', ')
      FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
        AND COLUMN_NAME IN ('inbox', 'event', 'recorded_at')),
    (SELECT GROUP_CONCAT(CONCAT(COLUMN_NAME, COALESCE(SUB_PART, '')) ORDER BY COLUMN_NAME SEPARATOR ', ')
      FROM information_schema.STATISTICS s WHERE s.TABLE_SCHEMA = t.TABLE_SCHEMA AND s.TABLE_NAME = t.TABLE_NAME
        AND INDEX_NAME = 'PRIMARY'),
    (SELECT e.SAVEPOINTS FROM information_schema.ENGINES e WHERE e.ENGINE = t.ENGINE),
    t.ENGINE
  FROM information_schema.TABLES t
  WHERE t.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND t.TABLE_NAME = ?`;

const COLUMNS = /^event binary\(32\), inbox varchar\(\d+\), recorded_at datetime\(6\)$/i;

/** Makes the table when it is missing and may be made, and checks it. */
export async function prepareMysql(
  pool: Pick<Pool, 'query'>,
  { table, create }: ValidOptions,
): Promise<void> {
  const sql = mysqlTable(table);
  const ddl = mysqlDdl(table);
  const look = async (): Promise<readonly unknown[] | undefined> => {
    const [rows] = await pool.query<RowDataPacket[][]>({
      sql: LOOK,
      values: [table.schema, table.name],
      rowsAsArray: true,
    });
    return rows[0];
  };
  let found = await look();
  if (found === undefined && create) {
    const failure = await pool.query(ddl.join(';')).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure !== null && errorField(failure.error, 'sqlState') === undefined) throw failure.error;
    found = await look();
    if (found === undefined)
      throw schemaError(`The inbox's table ${sql} can't be made.`, ddl, failure?.error);
  }
  if (found === undefined) throw schemaError(`The inbox's table ${sql} is missing.`, ddl);
  const [columns, key, savepoints, engine] = found.map(String);
  if (!COLUMNS.test(columns ?? ''))
    throw schemaError(`The inbox's table ${sql} has the columns ${String(columns)}.`, ddl);
  if (key !== 'event, inbox')
    throw schemaError(
      `The inbox's table ${sql} lets an event be recorded twice: its primary key is not (inbox, event).`,
      ddl,
    );
  if (savepoints !== 'YES')
    throw schemaError(
      `The inbox's table ${sql} is in ${String(engine)}, which has no transactions: what is rolled back would stay recorded.`,
      ddl,
    );
}
