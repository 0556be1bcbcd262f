import { PostgresCommittedLog } from './checker/postgres-committed-log.js';
import { comparePositions, commitLsnOf } from './lsn.js';
import type { OutboxRow } from './outbox-row.js';
import type { SourceChoice } from './pipeline-process-protocol.js';
import type { PipelineSessionKind, PipelineSessions } from './pipeline-sessions.js';
import { PostgresCommitWitness } from './postgres-commit-witness.js';
import { testDatabase, type TestDatabase } from './postgres-fixture.js';
import { PostgresOutboxSession } from './postgres-outbox-session.js';
import { createOutbox, insertRows, type OutboxSource } from './postgres-outbox.js';
import { TestOutbox, type LogRelease, type SourceTuning } from './test-outbox.js';

export class PostgresTestOutbox extends TestOutbox {
  readonly db: TestDatabase;
  readonly release: LogRelease;
  readonly #source: OutboxSource;

  static async create(serverUrl?: string): Promise<PostgresTestOutbox> {
    const db = await testDatabase(serverUrl);
    return new PostgresTestOutbox(db, await createOutbox(db));
  }

  private constructor(db: TestDatabase, source: OutboxSource) {
    super();
    this.db = db;
    this.#source = source;
    this.release = {
      upTo: async () => {
        const sql = 'SELECT confirmed_flush_lsn::text AS lsn FROM pg_replication_slots WHERE slot_name = $1';
        const { rows } = await db.pool.query<{ lsn: string }>(sql, [db.slot()]);
        return `${rows[0]?.lsn ?? '0/0'}:0`;
      },
      until: async (position) => {
        const sql = `SELECT confirmed_flush_lsn >= '0/0'::pg_lsn + $2::numeric FROM pg_replication_slots
          WHERE slot_name = $1`;
        const lsn = String(commitLsnOf(position));
        await db.waitFor(`the slot is confirmed up to ${position}`, sql, [db.slot(), lsn]);
      },
    };
  }

  get url(): string {
    return this.db.url;
  }

  sourceChoice(tuning: SourceTuning = {}): SourceChoice {
    return { postgres: { ...this.#source, ...tuning } };
  }

  session(): Promise<PostgresOutboxSession> {
    return PostgresOutboxSession.open(this.db.url);
  }

  insert(rows: readonly OutboxRow[]): Promise<string[]> {
    return insertRows(this.db.pool, rows);
  }

  async idsAbove(id: string): Promise<string[]> {
    const sql = 'SELECT id FROM outbox WHERE id > $1 ORDER BY id';
    const { rows } = await this.db.pool.query<{ id: string }>(sql, [id]);
    return rows.map((row) => row.id);
  }

  async has(id: string): Promise<boolean> {
    const { rowCount } = await this.db.pool.query('SELECT FROM outbox WHERE id = $1', [id]);
    return rowCount === 1;
  }

  witness(): Promise<PostgresCommitWitness> {
    return PostgresCommitWitness.start(this.db);
  }

  committedLog(): Promise<PostgresCommittedLog> {
    return PostgresCommittedLog.start(this.db);
  }

  sessionsOf(pipeline: string): PipelineSessions {
    const backends: Record<PipelineSessionKind, string> = {
      log: 'walsender',
      owner: 'walsender',
      query: 'client backend',
    };
    return {
      end: async (...kinds) => {
        const types = kinds.map((kind) => backends[kind]);
        const ofThese = `datname = current_database() AND starts_with(application_name, $1)
          AND backend_type = ANY ($2::text[])`;
        await this.db.waitFor(
          `there are sessions of the kinds ${kinds.join(', ')}`,
          `SELECT count(DISTINCT backend_type) = cardinality($2::text[]) FROM pg_stat_activity WHERE ${ofThese}`,
          [`strandline/${pipeline}/`, types],
        );
        await this.db.pool.query(
          `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${ofThese}`,
          [`strandline/${pipeline}/`, types],
        );
      },
      untilNobodyOwns: () => this.db.waitForSlot(this.db.slot(), 'inactive'),
    };
  }

  placeOf(position: string): string {
    return position;
  }

  comparePlaces(a: string, b: string): number {
    return comparePositions(a, b);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db[Symbol.asyncDispose]();
  }
}
