import { validDdl, type DdlOptions } from './ddl-options.js';
import { quoted, quotedTable, type TableName } from './dialect.js';
import { checkExecutor, type Executor } from './executor.js';

/**
 * The statements that make the table of the preset `strandline`. They change nothing where it is there.
 *
 * A partitioned table has one partition to begin with, which takes what no other one does, so that an insert never
 * fails for want of a partition. `createPartitions` makes those of the days.
 *
 * @throws OutboxError `OUTBOX_CONFIG`
 */
export function outboxDdl(options: DdlOptions): string[] {
  const { dialect, table, partitioned } = validDdl(options);
  return dialect === 'postgres' ? postgresDdl(table, partitioned) : [mysqlDdl(table, partitioned)];
}

/**
 * Makes the table, and resolves with the statements that were run. On MySQL and MariaDB such a statement ends a
 * transaction that is open.
 *
 * @throws OutboxError `OUTBOX_CONFIG`; what the library throws as it is.
 */
export async function createOutbox(
  executor: Executor,
  options: Omit<DdlOptions, 'dialect'> = {},
): Promise<string[]> {
  checkExecutor(executor);
  const statements = outboxDdl({ ...options, dialect: executor.dialect });
  for (const statement of statements) await executor.run(statement, []);
  return statements;
}

/** The partition of what belongs to no other one. */
export function restPartition({ schema, name }: TableName): TableName {
  return { schema, name: `${name}_default` };
}

/**
 * - `id`: made by us, or by the server for who inserts without one.
 * - `payload`, `headers`: json, which keeps the text that was written and takes any; jsonb changes it, refuses NUL
 *   characters, and costs the writer more.
 * - `created_at`: the time of the insert, not that of its transaction's beginning, so that a transaction that is open for
 *   days writes where rows are new.
 */
function postgresDdl(table: TableName, partitioned: boolean): string[] {
  const sql = quotedTable('postgres', table);
  const id = partitioned ? 'id uuid not null' : 'id uuid primary key';
  const columns = [
    `${id} default gen_random_uuid()`,
    'key text not null',
    'type text not null',
    'payload json',
    'headers json',
    'created_at timestamptz not null default clock_timestamp()',
  ];
  if (partitioned)
    return [
      `create table if not exists ${sql} (${columns.join(', ')}, primary key (id, created_at)) partition by range (created_at)`,
      `create table if not exists ${quotedTable('postgres', restPartition(table))} partition of ${sql} default`,
    ];
  return [
    `create table if not exists ${sql} (${columns.join(', ')})`,
    // For deleting by age. Partitions are dropped instead.
    `create index if not exists ${quoted('postgres', `${table.name}_created_at`)} on ${sql} (created_at)`,
  ];
}

/** Times are UTC, whatever the session's time zone is: a column by which a table is partitioned can't be a timestamp. */
function mysqlDdl(table: TableName, partitioned: boolean): string {
  const text = 'varchar(255) character set utf8mb4 collate utf8mb4_bin not null';
  const columns = [
    'id char(36) character set ascii collate ascii_bin not null default (uuid())',
    `\`key\` ${text}`,
    `type ${text}`,
    'payload json',
    'headers json',
    'created_at datetime(6) not null default (utc_timestamp(6))',
    partitioned ? 'primary key (id, created_at)' : 'primary key (id)',
    // For deleting by age, and for a start snapshot, which reads by pages.
    'key created_at (created_at)',
  ];
  const partitions = partitioned
    ? ` partition by range columns (created_at) (partition ${REST} values less than (maxvalue))`
    : '';
  return `create table if not exists ${quotedTable('mysql', table)} (${columns.join(', ')}) engine = InnoDB${partitions}`;
}

/** The same on MySQL and MariaDB, where names of partitions are the table's own. */
export const REST = 'rest';
