import { validPartitions } from './ddl-options.js';
import type { Day } from './days.js';
import { quotedTable, type TableName } from './dialect.js';
import { OutboxError } from './errors.js';
import { checkExecutor, placeOf, rowsOf, type Executor } from './executor.js';
import { planMysql, planPostgres, type PartitionPlan } from './partition-plan.js';
import { restPartition } from './ddl.js';

export interface PartitionOptions {
  /** As `outboxDdl` was told. */
  readonly table?: string;
  /** How many days after today are to have a partition. Default 7, at most 366; days are those of UTC. */
  readonly days?: number;
}

/**
 * The statements that `createPartitions` would run now: those for partitions of today and the next days that are not
 * there yet. It only looks.
 *
 * @throws OutboxError `OUTBOX_CONFIG`, `OUTBOX_NOT_PARTITIONED`; what the library throws as it is.
 */
export async function planPartitions(
  executor: Executor,
  options: PartitionOptions = {},
): Promise<PartitionPlan> {
  checkExecutor(executor);
  const { table, days } = validPartitions(options);
  return executor.dialect === 'postgres'
    ? planOnPostgres(executor, table, days)
    : planOnMysql(executor, table, days);
}

/**
 * Makes the partitions of today and the next days that are not there yet, and resolves with what it has run. To be
 * called once a day or more often, from one process or several. On MySQL and MariaDB it waits for the transactions that
 * have written to the table, and those that come after wait for it.
 *
 * @throws as `planPartitions`
 */
export async function createPartitions(
  executor: Executor,
  options: PartitionOptions = {},
): Promise<PartitionPlan> {
  const run: string[] = [];
  for (;;) {
    const { statements, occupied } = await planPartitions(executor, options);
    const failure = await runAll(executor, statements, run);
    if (failure === null) return { statements: run, occupied };
    // Another process may have made the same partition just now. Then it is no longer to be made.
    const { statements: left } = await planPartitions(executor, options);
    if (left.includes(failure.statement)) throw failure.error;
  }
}

interface Failure {
  readonly statement: string;
  readonly error: unknown;
}

/** @param run gets those that have succeeded */
async function runAll(
  executor: Executor,
  statements: readonly string[],
  run: string[],
): Promise<Failure | null> {
  for (const statement of statements) {
    try {
      await executor.run(statement, []);
    } catch (error) {
      return { statement, error };
    }
    run.push(statement);
  }
  return null;
}

async function planOnPostgres(executor: Executor, table: TableName, days: number): Promise<PartitionPlan> {
  const place = placeOf(executor)(1);
  const parent = `to_regclass(cast(${place} as text))`;
  const sql = quotedTable('postgres', table);
  const rows = async (statement: string, params: readonly string[]): Promise<Texts[]> =>
    rowsOf(await executor.run(statement, params)) as Texts[];
  const [about] = await rows(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD') as today, (select relkind::text from pg_class where oid = ${parent}) as kind`,
    [sql],
  );
  if (about?.['kind'] !== 'p') throw notPartitioned(sql);
  const today = textOf(about, 'today');
  const children = await rows(
    `select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${parent}`,
    [sql],
  );
  const partitions = new Set(children.map((row) => textOf(row, 'name')));
  const rest = quotedTable('postgres', restPartition(table));
  const occupied = partitions.has(restPartition(table).name)
    ? await rows(
        `select distinct to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from ${rest} where created_at >= cast(cast(${place} as text) as timestamptz) order by day`,
        [`${today} 00:00:00+00`],
      )
    : [];
  return planPostgres(table, days, {
    today,
    partitions,
    occupied: occupied.map((row) => textOf(row, 'day')),
  });
}

async function planOnMysql(executor: Executor, table: TableName, days: number): Promise<PartitionPlan> {
  const place = placeOf(executor);
  const partitions = rowsOf(
    await executor.run(
      `select date_format(utc_timestamp(), '%Y-%m-%d') as today, partition_name as name, partition_description as bound from information_schema.partitions where table_schema = coalesce(${place(1)}, database()) and table_name = ${place(2)} order by partition_ordinal_position`,
      [table.schema, table.name],
    ),
  );
  const last = partitions.at(-1);
  // A partition of one value more than all others takes what none of them does.
  if (last === undefined || textOf(last, 'bound') !== 'MAXVALUE')
    throw notPartitioned(quotedTable('mysql', table));
  const before = partitions.at(-2);
  return planMysql(table, days, {
    today: textOf(last, 'today'),
    from: before === undefined ? null : dayIn(textOf(before, 'bound')),
    rest: textOf(last, 'name'),
  });
}

type Texts = Readonly<Record<string, unknown>>;

/** Some libraries give texts of the catalogue as bytes. */
function textOf(row: Texts, column: string): string {
  const value = row[column];
  return Buffer.isBuffer(value) ? value.toString() : String(value);
}

/** `'2026-12-02 00:00:00'`, quotes included. */
function dayIn(bound: string): Day {
  return /\d{4}-\d{2}-\d{2}/.exec(bound)?.[0] ?? '';
}

function notPartitioned(sql: string): OutboxError {
  return new OutboxError(
    'OUTBOX_NOT_PARTITIONED',
    `There is no table ${sql} with partitions by day.`,
    'Make one by createOutbox(executor, { partitioned: true }), and name it in options.table.',
  );
}
