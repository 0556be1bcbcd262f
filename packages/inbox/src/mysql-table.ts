import type { Pool, RowDataPacket } from 'mysql2/promise';
import { errorField } from './database.js';
import { NEEDED, type TableLook } from './diagnose.js';
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
  let found = await look(pool, table);
  if (found === undefined && create) {
    const failure = await pool.query(ddl.join(';')).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure !== null && errorField(failure.error, 'sqlState') === undefined) throw failure.error;
    found = await look(pool, table);
    if (found === undefined)
      throw schemaError(`The inbox's table ${sql} can't be made.`, ddl, failure?.error);
  }
  const problem = found === undefined ? 'is missing' : problemOf(found);
  if (problem !== null) throw schemaError(`The inbox's table ${sql} ${problem}.`, ddl);
}

/** ER_TABLEACCESS_DENIED_ERROR */
const DENIED = 1142;

/** What is there, and what this user may do. Changes nothing: the server holds an EXPLAIN against the same rights. */
export async function lookMysql(pool: Pick<Pool, 'query'>, table: TableName): Promise<TableLook> {
  const sql = mysqlTable(table);
  const found = await look(pool, table);
  // Whether it may be made can come by a role or by a pattern of names: only making it would tell.
  if (found === undefined) return { kind: 'missing', mayCreate: 'unknown' };
  const problem = problemOf(found);
  if (problem !== null) return { kind: 'unfit', problem };
  const uses: Readonly<Record<(typeof NEEDED)[number], string>> = {
    select: `SELECT event FROM ${sql} WHERE 1 = 0`,
    insert: `INSERT INTO ${sql} (inbox, event, recorded_at) VALUES ('', '', NOW(6))`,
    delete: `DELETE FROM ${sql} WHERE inbox = ''`,
  };
  const lacking: string[] = [];
  for (const name of NEEDED) {
    await pool.query(`EXPLAIN ${uses[name]}`).catch((error: unknown) => {
      if (errorField(error, 'errno') !== DENIED) throw error;
      lacking.push(name);
    });
  }
  return { kind: 'there', lacking };
}

async function look(
  pool: Pick<Pool, 'query'>,
  { schema, name }: TableName,
): Promise<readonly unknown[] | undefined> {
  const [rows] = await pool.query<RowDataPacket[][]>({
    sql: LOOK,
    values: [schema, name],
    rowsAsArray: true,
  });
  return rows[0];
}

function problemOf(found: readonly unknown[]): string | null {
  const [columns, key, savepoints, engine] = found.map(String);
  if (!COLUMNS.test(columns ?? '')) return `has the columns ${String(columns)}`;
  if (key !== 'event, inbox') return 'lets an event be recorded twice: its primary key is not (inbox, event)';
  return savepoints === 'YES'
    ? null
    : `is in ${String(engine)}, which has no transactions: what is rolled back would stay recorded`;
}
