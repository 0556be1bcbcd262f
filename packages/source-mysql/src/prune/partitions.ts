import { createHash } from 'node:crypto';
import type { Logger, OldPartition } from '@strandline/core';
import { errnoOf } from '../connect-errors.js';
import { queryRows, quoteName, quoteText } from '../connection.js';
import type { Session } from '../session.js';
import type { TableFacts } from '../table.js';
import { hasPrepared } from '../undecided-xa.js';
import type { AgeTest } from './row-time.js';
import { tableName } from './rows.js';

const LOCKED = new Set([1205, 1213]);

/** to_days('1970-01-01') */
const DAYS_BEFORE_1970 = 719_528;
const DAY = 86_400_000;

const NAME = 'strandline_pruned_';

/**
 * Partitions by range of the time column. One whose upper bound is old enough is exchanged with an empty table. That takes a
 * lock which waits for all transactions that have written to the outbox: so what the partition has then is visible, and
 * lies before the end of the log. Its rows are in the other table from then on, whose comment says what it is, for whoever
 * drops it: that may be another process. The partition is empty, and goes when it still is under a lock on the outbox.
 *
 * On MariaDB an XA transaction that is prepared may have let go of that lock: while there is one, nothing is done.
 */
export class Partitions {
  readonly #sql: Session;
  readonly #table: TableFacts;
  readonly #age: AgeTest;
  readonly #log: Logger;
  #refused = false;

  constructor(sql: Session, table: TableFacts, age: AgeTest, log: Logger) {
    this.#sql = sql;
    this.#table = table;
    this.#age = age;
    this.#log = log;
  }

  async list(cutoff: number): Promise<readonly OldPartition[]> {
    const aside = await this.#setAside();
    const waiting = new Set(aside.map(({ partition }) => partition));
    // The one that its twin was exchanged for is empty, and goes with it.
    const old = this.#refused ? [] : (await this.#old(cutoff)).filter((name) => !waiting.has(name));
    if (aside.length + old.length === 0) return [];
    const prepared = await hasPrepared(this.#sql);
    if (prepared === null) {
      this.#refuse(
        'grant xa_recover_admin on *.* to the user: it must see whether XA transactions are prepared',
      );
    }
    if (prepared !== false) return [];
    return [
      ...aside.map(({ name }) => ({ name, setAside: true })),
      ...old.map((name) => ({ name, setAside: false })),
    ];
  }

  async setAside({ name }: OldPartition): Promise<'done' | 'locked' | 'refused'> {
    const table = tableName(this.#table);
    const twin = this.#twinOf(name);
    try {
      await this.#sql.run(`create table ${twin} like ${table}`);
      await this.#sql.run(`alter table ${twin} remove partitioning`);
      await this.#sql.run(`alter table ${twin} comment = ${quoteText(this.#commentOf(name))}`);
      await this.#sql.run(`alter table ${table} exchange partition ${quoteName(name)} with table ${twin}`);
      return 'done';
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 0) throw error;
      // What it has is nothing, or what an exchange that was not answered for has put there: the next look will tell.
      if (await this.#isEmpty(twin)) await this.#sql.run(`drop table if exists ${twin}`);
      if (LOCKED.has(errno)) return 'locked';
      this.#refuse((error as Error).message);
      return 'refused';
    }
  }

  async drop({ name }: OldPartition): Promise<'done' | 'locked'> {
    const aside = (await this.#setAside()).find((one) => one.name === name);
    if (aside === undefined) return 'done';
    try {
      await this.#sql.run(`drop table ${name}`);
      return await this.#dropEmpty(aside.partition);
    } catch (error) {
      if (LOCKED.has(errnoOf(error))) return 'locked';
      throw error;
    }
  }

  /** Under the lock nobody writes to it between the look and the end. One that stays is set aside anew another time. */
  async #dropEmpty(partition: string): Promise<'done' | 'locked'> {
    const table = tableName(this.#table);
    try {
      await this.#sql.run(`lock tables ${table} write`);
      const rows = await this.#sql.query({
        sql: `select 1 from ${table} partition (${quoteName(partition)}) limit 1`,
      });
      if (rows.length === 0)
        await this.#sql.run(`alter table ${table} drop partition ${quoteName(partition)}`);
      return 'done';
    } catch (error) {
      if (LOCKED.has(errnoOf(error))) return 'locked';
      // It is empty, and does no harm. The last one can't be dropped anyhow.
      this.#log.debug(
        { partition, reason: (error as Error).message },
        'an empty partition could not be dropped',
      );
      return 'done';
    } finally {
      await this.#sql.run('unlock tables');
    }
  }

  async #isEmpty(twin: string): Promise<boolean> {
    try {
      return (await this.#sql.query({ sql: `select 1 from ${twin} limit 1` })).length === 0;
    } catch {
      return false;
    }
  }

  async #setAside(): Promise<readonly { readonly name: string; readonly partition: string }[]> {
    const { schema, label } = this.#table;
    const rows = await queryRows(
      this.#sql,
      `select table_name as name, table_comment as comment from information_schema.tables
       where table_schema = ? and left(table_name, ?) = ? and table_type = 'BASE TABLE'`,
      [schema, NAME.length, NAME],
    );
    const before = this.#commentOf('');
    return rows.flatMap(({ name = '', comment }) =>
      comment?.startsWith(before) === true && name !== null && label !== ''
        ? [{ name: tableName({ schema, name }), partition: comment.slice(before.length) }]
        : [],
    );
  }

  async #old(cutoff: number): Promise<readonly string[]> {
    const { column } = this.#age;
    if (column === null) return [];
    const rows = await queryRows(
      this.#sql,
      `select partition_name as name, partition_method as method, partition_expression as expression,
              partition_description as bound
       from information_schema.partitions
       where table_schema = ? and table_name = ? and partition_name is not null and subpartition_name is null
       order by partition_ordinal_position`,
      [this.#table.schema, this.#table.name],
    );
    const old = rows.filter((row) => {
      const upper = upperBound(row, column);
      return upper !== null && upper <= cutoff;
    });
    // The last one takes the rows of today when no other does.
    return (old.length === rows.length ? old.slice(0, -1) : old).map(({ name }) => name ?? '');
  }

  #refuse(reason: string): void {
    if (!this.#refused) {
      const table = this.#table.label;
      this.#log.warn({ table, reason }, 'partitions can not be dropped: their rows are deleted one by one');
    }
    this.#refused = true;
  }

  #twinOf(partition: string): string {
    const hash = createHash('sha256').update(`${this.#table.label}/${partition}`).digest('hex').slice(0, 16);
    return tableName({ schema: this.#table.schema, name: `${NAME}${hash}` });
  }

  #commentOf(partition: string): string {
    return `strandline: dropped once it is settled; of ${this.#table.label}, partition ${partition}`;
  }
}

/** The upper bound of a partition in milliseconds since 1970; null where it has none, or is not one of time. */
export function upperBound(
  { method, expression, bound }: Readonly<Record<string, string | null>>,
  column: string,
): number | null {
  const text = (expression ?? '').replaceAll(/[`"\s]/g, '').toLowerCase();
  const name = column.toLowerCase();
  const value = bound ?? '';
  if (method === 'RANGE COLUMNS' && text === name) {
    const [, date] = /^'(\d{4}-\d{2}-\d{2}(?: [\d:.]+)?)'$/.exec(value) ?? [];
    if (date !== undefined) return Date.parse(date.includes(' ') ? `${date.replace(' ', 'T')}Z` : date);
  }
  if (!/^\d+(\.\d+)?$/.test(value) || (method !== 'RANGE' && method !== 'RANGE COLUMNS')) return null;
  if (text === name) return Number(value);
  if (text === `to_days(${name})`) return (Number(value) - DAYS_BEFORE_1970) * DAY;
  return text === `unix_timestamp(${name})` ? Number(value) * 1_000 : null;
}
