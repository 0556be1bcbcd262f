import type { RowDataPacket } from 'mysql2/promise';
import type { TestMysqlDatabase } from './mysql-fixture.js';

/** What a source has a connection for. */
export type MysqlSessionKind = 'dump' | 'lock' | 'query';

export interface MysqlSession {
  readonly id: number;
  readonly kind: MysqlSessionKind;
}

/** The connections that the code under test has: those of the test's user that its pool did not open. */
export class MysqlSessions {
  readonly #db: TestMysqlDatabase;
  readonly #lock: string;
  readonly #own = new Set<number>();

  /** @param lock the name of the lock by which the source owns its pipeline */
  constructor(db: TestMysqlDatabase, lock: string) {
    this.#db = db;
    this.#lock = lock;
    db.pool.on('connection', (connection) => void this.#own.add(connection.threadId));
    db.pool.on('acquire', (connection) => void this.#own.add(connection.threadId));
  }

  async list(): Promise<MysqlSession[]> {
    const [rows] = await this.#db.pool.query<RowDataPacket[]>(
      `SELECT id, command, id = coalesce(is_used_lock(?), 0) AS has_lock
       FROM information_schema.processlist WHERE user = ?`,
      [this.#lock, this.#db.name],
    );
    return rows
      .map((row) => ({
        id: Number(row['id'] ?? row['ID']),
        command: String(row['command'] ?? row['COMMAND']),
        row,
      }))
      .filter(({ id }) => !this.#own.has(id))
      .map(({ id, command, row }) => ({
        id,
        kind: command.startsWith('Binlog Dump') ? 'dump' : Number(row['has_lock']) === 1 ? 'lock' : 'query',
      }));
  }

  /** Ends those of these kinds; resolves with how many there were. */
  async kill(...kinds: readonly MysqlSessionKind[]): Promise<number> {
    const ended = (await this.list()).filter(({ kind }) => kinds.includes(kind));
    const noSuchThread = 1094;
    for (const { id } of ended) {
      await this.#db.pool.query(`KILL ${String(id)}`).catch((error: unknown) => {
        if ((error as { errno?: number }).errno !== noSuchThread) throw error;
      });
    }
    return ended.length;
  }
}
