import type { RowKey, RowsLook } from '@strandline/core';
import { errnoOf } from '../connect-errors.js';
import { queryBytes, queryRows, quoteName } from '../connection.js';
import type { Session } from '../session.js';
import type { TableFacts } from '../table.js';
import { literalOf, textOf, type KeyColumn } from './row-key.js';
import type { AgeTest } from './row-time.js';

/** Rows that one statement looks at, where no index knows which are old: some milliseconds. */
const LOOKED_AT = 10_000;

/** Errors of a statement that others are in the way of: a lock, a deadlock. */
const IN_THE_WAY = new Set([1205, 1213]);

export interface RowsOf {
  readonly sql: Session;
  readonly table: TableFacts;
  readonly key: readonly KeyColumn[];
  readonly age: AgeTest;
  /** An index has the rows by their age. */
  readonly byAge: boolean;
}

/** Looks for rows that are old enough, and deletes those it is told to. */
export class Rows {
  readonly #of: RowsOf;
  readonly #keep: number;
  readonly #table: string;
  /** Milliseconds since 1970 by the server's clock; what is from before that is old. */
  #cutoff = 0;

  constructor(of: RowsOf, keep: number) {
    this.#of = of;
    this.#keep = keep;
    this.#table = tableName(of.table);
  }

  async look(after: RowKey | null, limit: number): Promise<RowsLook> {
    if (after === null) await this.cutoff();
    return this.#of.byAge ? this.#lookByAge(limit) : this.#lookByKey(after, limit);
  }

  /** Takes the time anew. */
  async cutoff(): Promise<number> {
    const [row] = await queryRows(this.#of.sql, 'select floor(unix_timestamp(now(3)) * 1000) as now');
    this.#cutoff = Number(row?.['now'] ?? 0) - this.#keep;
    return this.#cutoff;
  }

  async remove(keys: readonly RowKey[]): Promise<number | 'locked'> {
    try {
      // That they are old is asked again: a row that took the place of a deleted one is not.
      const where = `${this.#among(keys)} and ${this.#old}`;
      const result: unknown = await this.#of.sql.query({
        sql: `delete o from ${this.#table} o where ${where}`,
      });
      return (result as { readonly affectedRows: number }).affectedRows;
    } catch (error) {
      if (IN_THE_WAY.has(errnoOf(error))) return 'locked';
      throw error;
    }
  }

  async survey(): Promise<{ old: number; oldest: string | null }> {
    await this.cutoff();
    const { sql, age } = this.#of;
    const oldest = age.column === null ? 'null' : `min(o.${quoteName(age.column)})`;
    const [row] = await queryBytes(
      sql,
      `select coalesce(sum(${this.#old}), 0), ${oldest} from ${this.#table} o`,
      Infinity,
    );
    const text = row?.[1]?.toString('latin1');
    return { old: Number(row?.[0]?.toString() ?? 0), oldest: text === undefined ? null : age.time(text) };
  }

  async oldest(): Promise<string | null> {
    const { sql, age, byAge } = this.#of;
    if (!byAge || age.column === null) return null;
    const column = `o.${quoteName(age.column)}`;
    const [row] = await queryBytes(sql, `select ${column} from ${this.#table} o order by ${column} limit 1`);
    const text = row?.[0]?.toString('latin1');
    return text === undefined ? null : age.time(text);
  }

  get #old(): string {
    return `(${this.#of.age.before(this.#cutoff)})`;
  }

  async #lookByAge(limit: number): Promise<RowsLook> {
    const { age } = this.#of;
    const rows = await this.#select(
      `where ${this.#old} order by o.${quoteName(age.column ?? '')} limit ${String(limit)}`,
    );
    return { old: rows.map(({ key }) => key), looked: rows.length, last: null };
  }

  async #lookByKey(after: RowKey | null, limit: number): Promise<RowsLook> {
    const most = Math.min(limit, LOOKED_AT);
    const order = this.#of.key.map(({ name }) => `o.${quoteName(name)}`).join(', ');
    const rows = await this.#select(
      `${after === null ? '' : `where ${this.#behind(after)}`} order by ${order} limit ${String(most)}`,
    );
    return {
      old: rows.filter(({ old }) => old).map(({ key }) => key),
      looked: rows.length,
      last: rows.length < most ? null : (rows.at(-1)?.key ?? null),
    };
  }

  async #select(rest: string): Promise<{ readonly key: RowKey; readonly old: boolean }[]> {
    const { sql, key } = this.#of;
    const columns = key.map(({ name }) => `o.${quoteName(name)}`).join(', ');
    const rows = await queryBytes(sql, `select ${columns}, ${this.#old} from ${this.#table} o ${rest}`);
    return rows.map((row) => ({
      key: key.map(({ type }, index) => textOf(row[index] ?? null, type)),
      old: row[key.length]?.toString() === '1',
    }));
  }

  /** Keys that come after one: `a > 1 or (a = 1 and b > 2)`, which both servers look up in the index. */
  #behind(after: RowKey): string {
    const column = (index: number): string => `o.${quoteName(this.#of.key[index]?.name ?? '')}`;
    const value = (index: number): string => literalOf(after[index] ?? '', this.#of.key[index]?.type ?? '');
    return after
      .map((_, place) => {
        const same = after.slice(0, place).map((__, index) => `${column(index)} = ${value(index)}`);
        return `(${[...same, `${column(place)} > ${value(place)}`].join(' and ')})`;
      })
      .join(' or ');
  }

  /** MariaDB does not look up a list of keys of several columns, and does with this. */
  #among(keys: readonly RowKey[]): string {
    const { key } = this.#of;
    const [only, more] = key;
    if (only !== undefined && more === undefined) {
      const values = keys.map(([text = '']) => literalOf(text, only.type)).join(', ');
      return `o.${quoteName(only.name)} in (${values})`;
    }
    const each = keys.map((one) =>
      key
        .map(({ name, type }, index) => `o.${quoteName(name)} = ${literalOf(one[index] ?? '', type)}`)
        .join(' and '),
    );
    return `(${each.map((text) => `(${text})`).join(' or ')})`;
  }
}

export function tableName({ schema, name }: Pick<TableFacts, 'schema' | 'name'>): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}
