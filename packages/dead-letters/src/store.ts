import type {
  CrashRecord,
  DeadLetter,
  DeadLetterDesk,
  DeadLetterStore,
  Failure,
  Finding,
  LetterFence,
  LetterLimits,
  LetterResult,
  NewLetter,
  ParkedKey,
} from '@strandline/core';
import { claim, noteSuspect, release } from './claim.js';
import { diagnose } from './diagnose/index.js';
import type { Session } from './dialect.js';
import { fencedOwner, type Owner } from './owner-row.js';
import { readPage } from './pages.js';
import { park, skip } from './park.js';
import { prune } from './prune.js';
import { failed, handled, unpark } from './release.js';
import { textOf } from './row.js';
import { makeTables, type Tables } from './tables.js';
import { hashOf } from './text.js';
import type { Transactions } from './transactions.js';

/** The owner's side of the tables. Each call that changes something is one transaction behind the owner's row. */
export class SqlDeadLetters implements DeadLetterStore {
  readonly #transactions: Transactions;
  readonly #tables: Tables;
  readonly #openDesk: () => DeadLetterDesk;

  /** @param openDesk makes the operator's side, with a connection of its own */
  constructor(transactions: Transactions, tables: Tables, openDesk: () => DeadLetterDesk) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#openDesk = openDesk;
  }

  get name(): string {
    return this.#transactions.name;
  }

  claim(
    fence: LetterFence,
    watermark: string,
  ): Promise<{ readonly keys: readonly ParkedKey[]; readonly crashes: CrashRecord } | 'fenced'> {
    return this.#transactions.run(
      (session) => claim(session, this.#tables, fence, watermark),
      (session) => makeTables(session, this.#tables),
    );
  }

  park(
    fence: LetterFence,
    key: string,
    letters: readonly NewLetter[],
    where: 'behind' | 'front',
    limits: LetterLimits,
    retryAt: string | null = null,
  ): Promise<LetterResult> {
    const request = { key, letters, where, limits, retryAt: instant(retryAt) };
    return this.#write(fence, (session, owner) => park(session, this.#tables, owner, request));
  }

  skip(fence: LetterFence, letter: NewLetter, limits: LetterLimits): Promise<LetterResult> {
    return this.#write(fence, (session, owner) => skip(session, this.#tables, owner, letter, limits));
  }

  read(fence: LetterFence, key: string, limit: number): Promise<readonly DeadLetter[]> {
    const { letters, owners } = this.#tables;
    const find = {
      sql: `select id, bytes from ${letters}
        where exists (select 1 from ${owners} where pipeline_hash = ? and epoch <= ?)
          and key_hash = ? and state = 'waiting' order by place limit ?`,
      values: [hashOf(fence.pipeline), fence.epoch, hashOf(fence.pipeline, key), limit],
    };
    return readPage(this.#transactions, this.#tables, find, "and state = 'waiting'");
  }

  handled(fence: LetterFence, letters: readonly DeadLetter[]): Promise<LetterResult> {
    return this.#write(fence, (session, owner) => handled(session, this.#tables, owner, letters));
  }

  failed(
    fence: LetterFence,
    letter: DeadLetter,
    failure: Failure,
    retryAt: string | null,
  ): Promise<LetterResult> {
    const at = instant(retryAt);
    return this.#write(fence, (session, owner) => failed(session, this.#tables, owner, letter, failure, at));
  }

  unpark(fence: LetterFence, key: string): Promise<boolean | 'fenced'> {
    return this.#write(fence, (session, owner) => unpark(session, this.#tables, owner, key));
  }

  async released(fence: LetterFence, limit: number): Promise<readonly string[]> {
    const { keys, owners } = this.#tables;
    const rows = await this.#transactions.rows(
      `select event_key from ${keys}
        where pipeline = (select id from ${owners} where pipeline_hash = ? and epoch <= ?)
          and release_at <= ? order by release_at limit ?`,
      [hashOf(fence.pipeline), fence.epoch, new Date().toISOString(), limit],
    );
    return rows.map((row) => textOf(row, 'event_key'));
  }

  prune(fence: LetterFence, isSettled: (position: string) => boolean, limit: number): Promise<number> {
    return prune(this.#transactions, this.#tables, fence, isSettled, limit);
  }

  suspect(fence: LetterFence, identity: string | null): Promise<'stored' | 'fenced'> {
    return this.#transactions.run((session) => noteSuspect(session, this.#tables, fence, identity));
  }

  release(fence: LetterFence): Promise<void> {
    return this.#transactions.run((session) => release(session, this.#tables, fence));
  }

  desk(): DeadLetterDesk {
    return this.#openDesk();
  }

  diagnose(pipeline: string, limits: LetterLimits): Promise<readonly Finding[]> {
    return diagnose(this.#transactions, this.#tables, pipeline, limits);
  }

  close(): Promise<void> {
    return this.#transactions.close();
  }

  #write<T>(fence: LetterFence, work: (session: Session, owner: Owner) => Promise<T>): Promise<T | 'fenced'> {
    return this.#transactions.run(async (session) => {
      const owner = await fencedOwner(session, this.#tables, fence);
      return owner === 'fenced' ? owner : work(session, owner);
    });
  }
}

/** The one form in which times are stored, and compared as texts. */
function instant(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
