import { Charsets } from './charsets.js';
import type { OutboxTable } from '@strandline/source-kit';
import { errnoOf } from './connect-errors.js';
import { queryRows } from './connection.js';
import { mysqlError } from './errors.js';
import { OutboxWriters } from './outbox-writers.js';
import type { Session } from './session.js';
import type { ColumnType } from './values.js';

/** The outbox table as the catalog has it. */
export interface TableFacts {
  readonly schema: string;
  readonly name: string;
  /** `schema.table`, for people. */
  readonly label: string;
  readonly columns: readonly ColumnType[];
  readonly charsets: Charsets;
  readonly writers: OutboxWriters;
}

export async function findTable(sql: Session, outbox: OutboxTable): Promise<TableFacts> {
  const [database] = await queryRows(sql, 'select database() as name');
  const parts = outbox.table.split('.');
  const schema = parts.length === 2 ? parts[0] : database?.['name'];
  const name = parts.at(-1) ?? '';
  if (schema === null || schema === undefined) {
    throw mysqlError(
      'MYSQL_TABLE_MISSING',
      `The connection names no database to find the table ${JSON.stringify(name)} in.`,
      'Name it in the URL (mysql://host/database), or write outbox.table as database.table.',
    );
  }
  const [table] = await queryRows(
    sql,
    `select table_schema as "schema", table_name as name, table_type as type, engine as engine
     from information_schema.tables where table_schema = ? and table_name = ?`,
    [schema, name],
  );
  if (table?.['type'] !== 'BASE TABLE') {
    throw mysqlError(
      'MYSQL_TABLE_MISSING',
      table === undefined
        ? `There is no table ${JSON.stringify(name)} in the database ${JSON.stringify(schema)}, or this user may not see it.`
        : `${JSON.stringify(name)} is not a table.`,
      'Create it, grant select on it, or correct outbox.table.',
    );
  }
  if (table['engine'] !== 'InnoDB') {
    throw mysqlError(
      'MYSQL_TABLE_ENGINE',
      `The table ${schema}.${name} has the engine ${table['engine'] ?? '?'}: its rows do not commit or roll back with the business data.`,
      `Run: alter table ${schema}.${name} engine = InnoDB;`,
    );
  }
  const columns = await queryRows(
    sql,
    `select column_name as name, lower(column_type) as type, character_set_name as charset from information_schema.columns
     where table_schema = ? and table_name = ? order by ordinal_position`,
    [schema, name],
  );
  const jsonColumns = await jsonTextColumns(sql, schema, name);
  return {
    schema: table['schema'] ?? schema,
    name: table['name'] ?? name,
    label: `${schema}.${name}`,
    columns: columns.map((column) => {
      const columnName = column['name'] ?? '';
      const type = jsonColumns.has(columnName) ? 'json' : (column['type'] ?? '');
      return { name: columnName, type, charset: column['charset'] ?? null };
    }),
    charsets: await Charsets.read(
      sql,
      columns.map((column) => column['charset'] ?? null),
    ),
    writers: await OutboxWriters.read(sql, table['schema'] ?? schema, table['name'] ?? name),
  };
}

/** No such column, no such table: MySQL lists checks with fewer columns, and before 8.0.16 not at all. */
const NOT_LISTED = new Set([1054, 1109]);

/** MariaDB's JSON is a text column with a check that its text is JSON; on MySQL it is a type. */
async function jsonTextColumns(sql: Session, schema: string, table: string): Promise<ReadonlySet<string>> {
  const checks = await queryRows(
    sql,
    `select constraint_name as name from information_schema.check_constraints
     where constraint_schema = ? and table_name = ? and level = 'Column' and check_clause like 'json_valid(%'`,
    [schema, table],
  ).catch((error: unknown) => {
    if (NOT_LISTED.has(errnoOf(error))) return [];
    throw error;
  });
  return new Set(checks.map((check) => check['name'] ?? ''));
}
