import type { MysqlServerName } from '@strandline/servers';
import type { RowDataPacket } from 'mysql2/promise';
import { MysqlCommittedLog } from './checker/mysql-committed-log.js';
import { compareMysqlPlaces, MysqlCommitWitness, mysqlPlaceOf } from './mysql-commit-witness.js';
import { testMysqlDatabase, type TestMysqlDatabase } from './mysql-fixture.js';
import { MysqlOutboxSession } from './mysql-outbox-session.js';
import { createMysqlOutbox, insertMysqlRows, type MysqlOutboxSource } from './mysql-outbox.js';
import { MysqlSessions } from './mysql-sessions.js';
import type { OutboxRow } from './outbox-row.js';
import type { SourceChoice } from './pipeline-process-protocol.js';
import type { PipelineSessions } from './pipeline-sessions.js';
import { TestOutbox, type SourceTuning } from './test-outbox.js';

/** On a MySQL or MariaDB of any version. */
export class MysqlTestOutbox extends TestOutbox {
  readonly db: TestMysqlDatabase;
  readonly release = null;
  readonly #source: MysqlOutboxSource;
  readonly #sessions: MysqlSessions;

  static async create(server: MysqlServerName, serverUrl?: string): Promise<MysqlTestOutbox> {
    const db = await testMysqlDatabase(server, serverUrl);
    const sessions = new MysqlSessions(db);
    return new MysqlTestOutbox(db, await createMysqlOutbox(db), sessions);
  }

  private constructor(db: TestMysqlDatabase, source: MysqlOutboxSource, sessions: MysqlSessions) {
    super();
    this.db = db;
    this.#source = source;
    this.#sessions = sessions;
  }

  get url(): string {
    return this.db.url;
  }

  sourceChoice(tuning: SourceTuning = {}): SourceChoice {
    return { mysql: { ...this.#source, ...tuning } };
  }

  session(): Promise<MysqlOutboxSession> {
    return MysqlOutboxSession.open(this.db);
  }

  insert(rows: readonly OutboxRow[]): Promise<string[]> {
    return insertMysqlRows(this.db.pool, rows);
  }

  async idsAbove(id: string): Promise<string[]> {
    const sql = 'SELECT CAST(id AS CHAR) AS id FROM outbox WHERE outbox.id > ? ORDER BY outbox.id';
    const [rows] = await this.db.pool.query<RowDataPacket[]>(sql, [id]);
    return rows.map((row) => String(row['id']));
  }

  async has(id: string): Promise<boolean> {
    const [rows] = await this.db.pool.query<RowDataPacket[]>('SELECT 1 FROM outbox WHERE id = ?', [id]);
    return rows.length === 1;
  }

  witness(): Promise<MysqlCommitWitness> {
    return MysqlCommitWitness.start(this.db);
  }

  committedLog(): Promise<MysqlCommittedLog> {
    return MysqlCommittedLog.start(this.db);
  }

  sessionsOf(pipeline: string): PipelineSessions {
    return this.#sessions.of(pipeline);
  }

  placeOf(position: string): string {
    return mysqlPlaceOf(position);
  }

  comparePlaces(a: string, b: string): number {
    return compareMysqlPlaces(a, b);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db[Symbol.asyncDispose]();
  }
}
