import type { RowKey, RowsLook } from '@strandline/core';
import type pg from 'pg';
import { errorCodeOf } from '../connect-errors.js';
import { unhurried } from '../connection.js';
import type { TableFacts } from '../outbox-table.js';
import { postgresError } from '../errors.js';
import { quoteName } from '../quote.js';
import type { KeyColumn } from './row-key.js';
import type { AgeTest } from './row-time.js';

/** Rows that one statement looks at, where no index knows which are old: some milliseconds. */
const LOOKED_AT = 10_000;

/** query_canceled: the time-out of statements. */
const TIMED_OUT = '57014';

/** SQLSTATEs of a statement that others are in the way of: a lock, a deadlock, the time-out of statements. */
const IN_THE_WAY = new Set(['55P03', '40P01', TIMED_OUT, '40001']);

export interface RowsOf {
  readonly sql: pg.Client;
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
  /** Milliseconds since 1970 by the server's clock; what is from before that is old. */
  #cutoff = 0;

  constructor(of: RowsOf, keep: number) {
    this.#of = of;
    this.#keep = keep;
  }

  /** Rejects with `PG_PRUNE_SLOW` when it takes longer than a statement may. */
  async look(after: RowKey | null, limit: number): Promise<RowsLook> {
    if (after === null) await this.#takeTime();
    try {
      return await (this.#of.byAge ? this.#lookByAge(limit) : this.#lookByKey(after, limit));
    } catch (error) {
      throw errorCodeOf(error) === TIMED_OUT ? this.#tooSlow(error) : error;
    }
  }

  /** The condition for rows that are old enough, as of the last look from the beginning. */
  get old(): string {
    return this.#of.age.before(this.#cutoff);
  }

  async cutoff(): Promise<number> {
    await this.#takeTime();
    return this.#cutoff;
  }

  async remove(keys: readonly RowKey[]): Promise<number | 'locked'> {
    const { sql, table, key } = this.#of;
    const arrays = key.map(({ type }, index) => `$${String(index + 1)}::${type}[]`).join(', ');
    const names = key.map((_, index) => `k${String(index)}`).join(', ');
    const same = key.map(({ name }, index) => `o.${quoteName(name)} = k.k${String(index)}`).join(' and ');
    try {
      const { rowCount } = await sql.query(
        // That they are old is asked again: a row that took the place of a deleted one is not.
        `delete from ${table.sqlName} o using unnest(${arrays}) as k(${names}) where ${same} and ${this.old}`,
        key.map((_, index) => keys.map((one) => one[index] ?? null)),
      );
      return rowCount ?? 0;
    } catch (error) {
      if (IN_THE_WAY.has(errorCodeOf(error) ?? '')) return 'locked';
      throw error;
    }
  }

  async survey(): Promise<{ old: number; oldest: string | null }> {
    await this.#takeTime();
    const { sql, table, age } = this.#of;
    const { rows } = await sql.query<{ old: string; oldest: Date | null }>(
      unhurried(`select count(*) filter (where ${this.old})::text as old, ${age.time === null ? 'null' : `min(${age.time})`} as oldest
                 from ${table.sqlName} o`),
    );
    return { old: Number(rows[0]?.old ?? 0), oldest: rows[0]?.oldest?.toISOString() ?? null };
  }

  async oldest(): Promise<string | null> {
    const { sql, table, age, byAge } = this.#of;
    if (!byAge || age.time === null || age.column === null) return null;
    const { rows } = await sql.query<{ oldest: Date | null }>(
      `select ${age.time} as oldest from ${table.sqlName} o order by o.${quoteName(age.column)} limit 1`,
    );
    return rows[0]?.oldest?.toISOString() ?? null;
  }

  async #takeTime(): Promise<void> {
    const { rows } = await this.#of.sql.query<{ now: string }>(
      'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint::text as now',
    );
    this.#cutoff = Number(rows[0]?.now ?? 0) - this.#keep;
  }

  async #lookByAge(limit: number): Promise<RowsLook> {
    const { sql, table, age } = this.#of;
    const { rows } = await sql.query<string[]>({
      text: `select ${this.#texts()} from ${table.sqlName} o where ${this.old}
             order by o.${quoteName(age.column ?? '')} limit $1`,
      values: [limit],
      rowMode: 'array',
    });
    return { old: rows, looked: rows.length, last: null };
  }

  async #lookByKey(after: RowKey | null, limit: number): Promise<RowsLook> {
    const { sql, table, key } = this.#of;
    const columns = key.map(({ name }) => `o.${quoteName(name)}`).join(', ');
    const values = key.map(({ type }, index) => `$${String(index + 1)}::${type}`).join(', ');
    const most = Math.min(limit, LOOKED_AT);
    const { rows } = await sql.query<(string | boolean)[]>({
      text: `select ${this.#texts()}, (${this.old}) from ${table.sqlName} o
             ${after === null ? '' : `where (${columns}) > (${values})`} order by ${columns} limit ${String(most)}`,
      values: [...(after ?? [])],
      rowMode: 'array',
    });
    const keys = rows.map((row) => row.slice(0, -1) as string[]);
    return {
      old: keys.filter((_, index) => rows[index]?.at(-1) === true),
      looked: rows.length,
      last: rows.length < most ? null : (keys.at(-1) ?? null),
    };
  }

  #tooSlow(cause: unknown): Error {
    const { table, age, byAge } = this.#of;
    const index = `create index concurrently on ${table.sqlName} (${quoteName(age.column ?? '')});`;
    return postgresError(
      'PG_PRUNE_SLOW',
      `To find old rows of ${table.name} took longer than a statement may.`,
      byAge || age.column === null
        ? `Run: vacuum ${table.sqlName}; dead rows are in the way. Look at the server's load, too.`
        : `Run: ${index} It finds them without reading the others.`,
      { cause },
    );
  }

  #texts(): string {
    return this.#of.key.map(({ name }) => `o.${quoteName(name)}::text`).join(', ');
  }
}
