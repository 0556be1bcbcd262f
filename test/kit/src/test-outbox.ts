import type { PostgresOptions, Source } from 'strandline';
import type { Committed } from './checker/commit-order.js';
import type { CommittedLog } from './checker/committed-log.js';
import { judge } from './checker/judge.js';
import type { JudgeOptions, Judgement } from './checker/judgement.js';
import type { CommitWitness } from './commit-witness.js';
import type { History } from './history.js';
import type { OutboxRow } from './outbox-row.js';
import type { OutboxSession } from './outbox-session.js';
import { OutboxWriters, type WriterOptions } from './outbox-writers.js';
import type { SourceChoice } from './pipeline-process-protocol.js';
import type { PipelineSessions } from './pipeline-sessions.js';
import { sourceOf } from './source-choice.js';

/** What every source can be told beside where its outbox is. */
export type SourceTuning = Pick<
  PostgresOptions,
  'url' | 'visibility' | 'standby' | 'connectTimeout' | 'silenceTimeout' | 'reconnect'
>;

/** How far a server was told that it may throw its log away. */
export interface LogRelease {
  /** The position; all that committed before it is released. */
  upTo(): Promise<string>;
  /** Resolves once all that committed before the transaction of this position is released. */
  until(position: string): Promise<void>;
}

/** Rows of one statement: it must fit into a packet of the server. */
const rowsOfAStatement = 1_000;
const charactersOfAStatement = 8 * 1024 * 1024;

/**
 * An outbox of one test, on any of the databases: what the tests of the promises ask of it. It goes with its database
 * at the end of the test.
 */
export abstract class TestOutbox implements AsyncDisposable {
  /** Of the database. */
  abstract readonly url: string;
  /** Null where the server is told nothing, and its log goes by its age: MySQL and MariaDB. */
  abstract readonly release: LogRelease | null;

  /** The source on it, as plain data. */
  abstract sourceChoice(tuning?: SourceTuning): SourceChoice;
  abstract session(): Promise<OutboxSession>;
  /** Inserts rows with one statement, which commits; resolves with their ids, in the order of the rows. */
  abstract insert(rows: readonly OutboxRow[]): Promise<string[]>;
  /** The ids above this one that can be seen now, in order. */
  abstract idsAbove(id: string): Promise<string[]>;
  /** Whether another session sees this row. */
  abstract has(id: string): Promise<boolean>;
  /** What commits from now on, with the positions that events of it must have. Before the first insert. */
  abstract witness(): Promise<CommitWitness>;
  /** The same by another tool, which does not know positions; a log can be thrown away behind it. */
  abstract committedLog(): Promise<CommittedLog>;
  abstract sessionsOf(pipeline: string): PipelineSessions;
  /** What of a source's position a witness knows of. */
  abstract placeOf(position: string): string;
  /** Orders two of these: negative, zero or positive. */
  abstract comparePlaces(a: string, b: string): number;
  abstract [Symbol.asyncDispose](): Promise<void>;

  source(tuning: SourceTuning = {}): Source {
    return sourceOf(this.sourceChoice(tuning));
  }

  writers(options: WriterOptions = {}): OutboxWriters {
    return new OutboxWriters(() => this.session(), options);
  }

  async insertInOneTransaction(rows: readonly OutboxRow[]): Promise<void> {
    await using session = await this.session();
    await session.begin();
    const widest = Math.max(...rows.slice(0, rowsOfAStatement).map(({ payload = '' }) => payload.length), 1);
    const step = Math.max(Math.min(rowsOfAStatement, Math.floor(charactersOfAStatement / widest)), 1);
    for (let from = 0; from < rows.length; from += step) await session.insert(rows.slice(from, from + step));
    await session.commit();
  }

  /** Holds what handlers did against what committed. What the history says of lives that ended is known already. */
  check(committed: readonly Committed[], history: History, options: JudgeOptions = {}): Judgement {
    return judge(committed, history.refresh().entries, {
      ended: history.ended,
      stopped: history.stopped,
      placeOf: (position) => this.placeOf(position),
      ...options,
    });
  }
}
