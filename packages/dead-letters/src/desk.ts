import type { DeadLetter, DeadLetterDesk, LetterCounts, LetterFilter } from '@strandline/core';
import { changeAll } from './change-all.js';
import type { Session } from './dialect.js';
import { conditionsOf } from './filter.js';
import { AT_ONCE, countDown, releaseKey } from './key-row.js';
import { fromRow, SELECTED } from './letter-rows.js';
import { lockOwner, saveCounts, type Owner } from './owner-row.js';
import { readPage } from './pages.js';
import { retry } from './retry.js';
import { integerOf } from './row.js';
import type { Tables } from './tables.js';
import { hashOf } from './text.js';
import type { Transactions } from './transactions.js';

/** An id is a bigint of the database. */
const ID = /^\d{1,18}$/;

/** The operator's side of the tables: the same locks in the same order as the owner's, and no fence. */
export class SqlDeadLetterDesk implements DeadLetterDesk {
  readonly #transactions: Transactions;
  readonly #tables: Tables;

  constructor(transactions: Transactions, tables: Tables) {
    this.#transactions = transactions;
    this.#tables = tables;
  }

  async list(
    pipeline: string,
    filter: LetterFilter,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly DeadLetter[]> {
    const { letters, owners, dialect } = this.#tables;
    const fits = conditionsOf(pipeline, filter, dialect);
    return readPage(this.#transactions, this.#tables, {
      sql: `select l.id, l.bytes from ${letters} l
        where l.pipeline = (select id from ${owners} where pipeline_hash = ?) and l.id > ?${fits.sql}
        order by l.id limit ?`,
      values: [hashOf(pipeline), after ?? '0', ...fits.values, limit],
    });
  }

  async show(pipeline: string, id: string): Promise<DeadLetter | null> {
    const { letters, owners } = this.#tables;
    if (!ID.test(id)) return null;
    const [row] = await this.#transactions.rows(
      `select ${SELECTED} from ${letters}
        where pipeline = (select id from ${owners} where pipeline_hash = ?) and id = ?`,
      [hashOf(pipeline), id],
    );
    return row === undefined ? null : fromRow(row);
  }

  async counts(pipeline: string): Promise<LetterCounts> {
    const { keys, owners } = this.#tables;
    const [row] = await this.#transactions.rows(
      `select o.held, count(k.key_hash) as parked, coalesce(sum(k.waiting), 0) as waiting
        from ${owners} o left join ${keys} k on k.pipeline = o.id and k.waiting > 0
        where o.pipeline_hash = ? group by o.id, o.held`,
      [hashOf(pipeline)],
    );
    if (row === undefined) return { keys: 0, waiting: 0, skipped: 0 };
    const waiting = integerOf(row, 'waiting');
    return { keys: integerOf(row, 'parked'), waiting, skipped: integerOf(row, 'held') - waiting };
  }

  retry(pipeline: string, filter: LetterFilter): Promise<readonly string[]> {
    return this.#change<readonly string[]>(pipeline, [], (session, owner) =>
      retry(session, this.#tables, owner, filter),
    );
  }

  skipHead(pipeline: string, key: string, letter?: string): Promise<DeadLetter | null> {
    const { letters } = this.#tables;
    return this.#change<DeadLetter | null>(pipeline, null, async (session, owner) => {
      const { rows } = await session.run(
        `select ${SELECTED} from ${letters} where key_hash = ? and state = 'waiting'
          order by place limit 1`,
        [hashOf(pipeline, key)],
      );
      const [head] = rows;
      if (head === undefined || (letter !== undefined && String(head['id']) !== letter)) return null;
      await session.run(`update ${letters} set state = 'skipped' where id = ?`, [String(head['id'])]);
      await this.#release(session, owner, key, 1);
      return fromRow({ ...head, state: 'skipped' });
    });
  }

  discard(pipeline: string, key: string): Promise<number> {
    return this.#change(pipeline, 0, async (session, owner) => {
      const give = (state: 'waiting' | 'skipped'): Promise<number> => {
        const fits = conditionsOf(pipeline, { key, state }, this.#tables.dialect);
        return changeAll(session, this.#tables, owner.id, fits, "state = 'discarded'");
      };
      const waiting = await give('waiting');
      const all = waiting + (await give('skipped'));
      await saveCounts(session, this.#tables, { ...owner, held: owner.held - all });
      await this.#release(session, owner, key, waiting);
      return all;
    });
  }

  close(): Promise<void> {
    return this.#transactions.close();
  }

  /** A key with fewer letters that wait goes on. */
  async #release(session: Session, owner: Owner, key: string, fewer: number): Promise<void> {
    await countDown(session, this.#tables, owner, key, fewer);
    await releaseKey(session, this.#tables, owner, key, AT_ONCE);
  }

  /** @param nothing what there is to tell of a pipeline that has never claimed the tables */
  #change<T>(pipeline: string, nothing: T, work: (session: Session, owner: Owner) => Promise<T>): Promise<T> {
    return this.#transactions.run(async (session) => {
      const owner = await lockOwner(session, this.#tables, pipeline);
      return owner === null ? nothing : work(session, owner);
    });
  }
}
