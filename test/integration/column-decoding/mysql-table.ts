import type { TestMysqlDatabase } from '@strandline/test-kit';
import type { PoolConnection, RowDataPacket } from 'mysql2/promise';
import { drawn, type Said } from './columns.js';
import type { MysqlColumn, Print } from './mysql-types.js';

/** Works in a session as an application with a permissive one has it. */
export async function inSession<T>(
  db: TestMysqlDatabase,
  work: (sql: PoolConnection) => Promise<T>,
): Promise<T> {
  const connection = await db.pool.getConnection();
  try {
    await connection.query("set session sql_mode = '', session time_zone = '+00:00', names utf8mb4");
    return await work(connection);
  } finally {
    connection.destroy();
  }
}

/** Makes a table with the columns id, c0, c1, … */
export async function create(
  sql: PoolConnection,
  columns: readonly MysqlColumn[],
  table = 'outbox',
): Promise<void> {
  const declared = columns.map(({ type }, index) => `c${String(index)} ${type}`);
  await sql.query(
    `create table ${table} (id bigint primary key, ${declared.join(', ')}) character set utf8mb4 row_format=dynamic`,
  );
}

/** Inserts what was drawn, in one statement; resolves with the number of rows. */
export async function insertDrawn(sql: PoolConnection, columns: readonly MysqlColumn[]): Promise<number> {
  const values = drawn(columns);
  const rows = Array.from({ length: values[0]?.length ?? 0 }, (_, row) => {
    const cells = values.map((column) => column[row] ?? 'null');
    return `(${[String(row + 1), ...cells].join(', ')})`;
  });
  await sql.query(`insert into outbox values ${rows.join(', ')}`);
  return rows.length;
}

/** What SELECT gives, printed as an event prints it. */
export async function selected(sql: PoolConnection, columns: readonly MysqlColumn[]): Promise<Said> {
  const list = columns.map(({ print }, index) => {
    const name = `c${String(index)}`;
    // A float is printed with six digits; as a double it has all of them.
    return print === 'float' || print === 'double' ? `${name} * 1e0` : name;
  });
  const said = new Map<string, (string | null)[]>();
  for (const [id, ...row] of await cells(sql, `select id, ${list.join(', ')} from outbox`))
    said.set(
      String(id),
      row.map((bytes, index) => bytes && PRINTS[columns[index]?.print ?? 'same'](bytes)),
    );
  for (const [index, { print }] of columns.entries())
    if (print === 'float') await layOut(sql, [...said.values()], index);
  return said;
}

const PRINTS: Readonly<Record<Print, (bytes: Buffer) => string>> = {
  same: String,
  double: String,
  bytes: (bytes) => `0x${bytes.toString('hex')}`,
  unpadded: (bytes) => String(bytes).replace(/^0+(?=\d)/, ''),
  float: (bytes) => shortestFloat(Number(String(bytes))),
};

/** The fewest digits that read back as the same float. */
function shortestFloat(double: number): string {
  const float = Math.fround(double);
  for (let digits = 1; digits < 9; digits += 1) {
    const text = float.toPrecision(digits);
    if (Math.fround(Number(text)) === float) return text;
  }
  return float.toPrecision(9);
}

/** The digits of a float are known; how they are laid out is what the server makes of them as a double. */
async function layOut(sql: PoolConnection, all: readonly (string | null)[][], index: number): Promise<void> {
  const rows = all.filter((row) => row[index] !== null);
  const list = rows.map((row) => `cast('${row[index] ?? ''}' as double)`).join(', ');
  const [printed = []] = await cells(sql, `select ${list}`);
  rows.forEach((row, at) => {
    row[index] = String(printed[at] ?? null);
  });
}

/** The rows of a query, whose cells are the bytes that the server has sent. */
async function cells(sql: PoolConnection, query: string): Promise<(Buffer | null)[][]> {
  const [rows] = await sql.query<RowDataPacket[][]>({
    sql: query,
    rowsAsArray: true,
    typeCast: (field: { buffer(): Buffer | null }) => field.buffer(),
  });
  return rows as unknown as (Buffer | null)[][];
}

/** The types that the server knows: each of its words that can be a type is tried as one. */
export async function typesOf(sql: PoolConnection): Promise<ReadonlySet<string>> {
  const [words] = await sql.query<RowDataPacket[]>('select word as word from information_schema.keywords');
  const found = new Set<string>();
  for (const word of words.map((row) => String(row['word'])).filter((each) => /^\w+$/.test(each))) {
    for (const parameter of ['', '(5)', "('a')"]) {
      const made = await sql.query(`create temporary table try_type (c ${word}${parameter})`).then(
        () => true,
        () => false,
      );
      if (!made) continue;
      const [[column]] = await sql.query<RowDataPacket[]>('show columns from try_type');
      found.add(/^[a-z0-9]+/.exec(String(column?.['Type']))?.[0] ?? '');
      await sql.query('drop temporary table try_type');
    }
  }
  return found;
}
