import { dayAfter, daysFrom, partitionOf, type Day } from './days.js';
import { quoted, quotedTable, type TableName } from './dialect.js';

/** What makes the partitions that are missing. */
export interface PartitionPlan {
  readonly statements: readonly string[];
  /**
   * Days that can't get a partition any more, since rows of theirs lie in the partition for the rest. They stay there,
   * and are read like any. Only Postgres has such days.
   */
  readonly occupied: readonly Day[];
}

export interface PostgresTable {
  readonly today: Day;
  /** Names of the partitions. */
  readonly partitions: ReadonlySet<string>;
  /** Days from today on of which the partition for the rest has rows. */
  readonly occupied: readonly Day[];
}

/**
 * A partition is made beside the table and attached then: that lets inserts go on, which `partition of` would make wait.
 * Rows are not moved out of the partition for the rest, because that would write them to the log a second time.
 */
export function planPostgres(table: TableName, days: number, found: PostgresTable): PartitionPlan {
  const sql = quotedTable('postgres', table);
  const nameOf = (day: Day): string => `${table.name}_${partitionOf(day)}`;
  const missing = daysFrom(found.today, days).filter((day) => !found.partitions.has(nameOf(day)));
  const statements = missing
    .filter((day) => !found.occupied.includes(day))
    .flatMap((day) => {
      const partition = quotedTable('postgres', { schema: table.schema, name: nameOf(day) });
      const range = `from ('${day} 00:00:00+00') to ('${dayAfter(day)} 00:00:00+00')`;
      return [
        `create table if not exists ${partition} (like ${sql} including all)`,
        `alter table ${sql} attach partition ${partition} for values ${range}`,
      ];
    });
  return { statements, occupied: missing.filter((day) => found.occupied.includes(day)) };
}

export interface MysqlTable {
  readonly today: Day;
  /** The first day that no partition but the one for the rest takes; null when there is no other. */
  readonly from: Day | null;
  /** The partition for the rest. */
  readonly rest: string;
}

/**
 * The partition for the rest is split. Rows of it go where they belong, and the log does not see that. The first of the
 * new partitions takes what is older, too.
 */
export function planMysql(table: TableName, days: number, found: MysqlTable): PartitionPlan {
  const missing = daysFrom(found.today, days).filter((day) => found.from === null || day >= found.from);
  if (missing.length === 0) return { statements: [], occupied: [] };
  const rest = quoted('mysql', found.rest);
  const parts = missing.map(
    (day) => `partition ${partitionOf(day)} values less than ('${dayAfter(day)} 00:00:00')`,
  );
  const all = [...parts, `partition ${rest} values less than (maxvalue)`].join(', ');
  const statement = `alter table ${quotedTable('mysql', table)} reorganize partition ${rest} into (${all})`;
  return { statements: [statement], occupied: [] };
}
