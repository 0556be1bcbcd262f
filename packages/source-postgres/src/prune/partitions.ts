import type { Logger, OldPartition } from '@strandline/core';
import type pg from 'pg';
import { errorCodeOf } from '../connect-errors.js';
import type { TableFacts } from '../outbox-table.js';
import { quoteName, quoteText } from '../quote.js';
import type { AgeTest } from './row-time.js';

/** Milliseconds that writers may have to queue up behind us for a lock on the table. */
const LOCK_TIMEOUT = 250;

/** Not 57014: the lock has a time-out of its own. */
const LOCKED = new Set(['55P03', '40P01', '55006']);

const FIND_OLD = `
  select n.nspname as schema, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_partitioned_table p
  join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
  join pg_inherits i on i.inhparent = p.partrelid
  join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
  where p.partrelid = $1::oid and p.partstrat = 'r' and p.partnatts = 1 and p.partexprs is null and a.attname = $2
    and c.relkind = 'r' and not i.inhdetachpending`;

const FIND_SET_ASIDE = `
  select n.nspname as schema, c.relname as name
  from pg_description d join pg_class c on c.oid = d.objoid join pg_namespace n on n.oid = c.relnamespace
  where d.classoid = 'pg_class'::regclass and d.objsubid = 0 and d.description = $1
    and c.relkind = 'r' and not c.relispartition
  order by c.oid`;

/**
 * Partitions by range of the time column. One whose upper bound is old enough is detached. That takes a lock which waits for
 * all transactions that have written to the table, and lets no row in afterwards: so what it has then is visible, and
 * lies before the end of the log. The comment that comes with it in the same transaction tells it from other tables,
 * for whoever drops it: that may be another process.
 */
export class Partitions {
  readonly #sql: pg.Client;
  readonly #table: TableFacts;
  readonly #age: AgeTest;
  readonly #log: Logger;

  constructor(sql: pg.Client, table: TableFacts, age: AgeTest, log: Logger) {
    this.#sql = sql;
    this.#table = table;
    this.#age = age;
    this.#log = log;
  }

  async list(cutoff: number): Promise<readonly OldPartition[]> {
    const aside = await this.#sql.query<NameRow>(FIND_SET_ASIDE, [this.#mark]);
    const old = await this.#old(cutoff);
    return [
      ...aside.rows.map((row) => ({ name: nameOf(row), setAside: true })),
      ...old.map((row) => ({ name: nameOf(row), setAside: false })),
    ];
  }

  async setAside({ name }: OldPartition): Promise<'done' | 'locked' | 'refused'> {
    const { sqlName } = this.#table;
    try {
      await this.#inTransaction([
        `alter table ${sqlName} detach partition ${name}`,
        `comment on table ${name} is ${quoteText(this.#mark)}`,
      ]);
      return 'done';
    } catch (error) {
      if (LOCKED.has(errorCodeOf(error) ?? '')) return 'locked';
      if (errorCodeOf(error) === undefined) throw error;
      this.#log.warn(
        { partition: name, reason: (error as Error).message },
        'the partition can not be detached: its rows are deleted one by one',
      );
      return 'refused';
    }
  }

  async drop({ name }: OldPartition): Promise<'done' | 'locked'> {
    try {
      // A table that was attached again since is a partition, which the server would drop as readily.
      await this.#inTransaction([`lock table ${name} in access exclusive mode`], async () => {
        const { rows } = await this.#sql.query<NameRow>(FIND_SET_ASIDE, [this.#mark]);
        if (rows.some((row) => nameOf(row) === name)) await this.#sql.query(`drop table ${name}`);
      });
      return 'done';
    } catch (error) {
      if (LOCKED.has(errorCodeOf(error) ?? '')) return 'locked';
      throw error;
    }
  }

  async #old(cutoff: number): Promise<readonly NameRow[]> {
    const { column } = this.#age;
    if (!this.#table.partitioned || column === null) return [];
    const { rows } = await this.#sql.query<NameRow & { bound: string }>(FIND_OLD, [this.#table.oid, column]);
    const type = this.#table.columns.find(({ name }) => name === column)?.typeName ?? '';
    const bounded = rows.flatMap((row) => {
      const upper = upperBound(row.bound);
      return upper === null ? [] : [{ ...row, upper }];
    });
    if (bounded.length === 0) return [];
    const ended = await this.#sql.query<{ place: number }>(
      `select place::int from unnest($1::text[]) with ordinality b(upper, place)
       where upper::${type} <= ${this.#age.bound(cutoff)} order by upper::${type}`,
      [bounded.map(({ upper }) => upper)],
    );
    return ended.rows.flatMap(({ place }) => bounded[place - 1] ?? []);
  }

  async #inTransaction(
    statements: readonly string[],
    last: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    await this.#sql.query('begin');
    try {
      await this.#sql.query(`set local lock_timeout = ${String(LOCK_TIMEOUT)}`);
      for (const statement of statements) await this.#sql.query(statement);
      await last();
      await this.#sql.query('commit');
    } catch (error) {
      await this.#sql.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  get #mark(): string {
    return markOf(this.#table);
  }
}

/** The comment on what was set aside. */
export function markOf({ name, oid }: Pick<TableFacts, 'name' | 'oid'>): string {
  return `strandline: a partition of the outbox ${name} (${String(oid)}) that is dropped once all pipelines have settled it`;
}

interface NameRow {
  readonly schema: string;
  readonly name: string;
}

/** As SQL names it. */
function nameOf({ schema, name }: NameRow): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

/** The upper bound of `FOR VALUES FROM ('…') TO ('…')`; null of one without, as the default partition is. */
export function upperBound(bound: string): string | null {
  const [, text] = /\bTO \('((?:[^']|'')*)'\)$/.exec(bound) ?? [];
  return text?.replaceAll("''", "'") ?? null;
}
