import { createHash } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import type { TestMysqlDatabase } from './mysql-fixture.js';
import type { PipelineSessionKind, PipelineSessions } from './pipeline-sessions.js';
import { waitUntil } from './wait-until.js';

interface MysqlSession {
  readonly id: number;
  readonly kind: PipelineSessionKind;
}

/** The connections that the code under test has: those of the test's user that its pool did not open. */
export class MysqlSessions {
  readonly #db: TestMysqlDatabase;
  readonly #own = new Set<number>();

  /** Before the pool opens its first connection. */
  constructor(db: TestMysqlDatabase) {
    this.#db = db;
    db.pool.on('connection', (connection) => void this.#own.add(connection.threadId));
    db.pool.on('acquire', (connection) => void this.#own.add(connection.threadId));
  }

  /** @param pipeline whose lock is the owner's */
  of(pipeline: string): PipelineSessions {
    const lock = lockName(`${this.#db.name}.outbox`, pipeline);
    return {
      end: (...kinds) => this.#end(lock, kinds),
      untilNobodyOwns: async () => {
        await this.#db.waitFor(`nobody owns ${pipeline}`, 'SELECT is_free_lock(?)', [lock]);
      },
    };
  }

  async #list(lock: string): Promise<MysqlSession[]> {
    const [rows] = await this.#db.pool.query<RowDataPacket[]>(
      `SELECT id, command, id = coalesce(is_used_lock(?), 0) AS has_lock
       FROM information_schema.processlist WHERE user = ?`,
      [lock, this.#db.name],
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
        kind: command.startsWith('Binlog Dump') ? 'log' : Number(row['has_lock']) === 1 ? 'owner' : 'query',
      }));
  }

  async #end(lock: string, kinds: readonly PipelineSessionKind[]): Promise<void> {
    const noSuchThread = 1094;
    const sessions = await waitUntil(`there are sessions of the kinds ${kinds.join(', ')}`, async () => {
      const list = await this.#list(lock);
      return kinds.every((wanted) => list.some(({ kind }) => kind === wanted)) ? list : null;
    });
    for (const { id } of sessions.filter(({ kind }) => kinds.includes(kind))) {
      await this.#db.pool.query(`KILL ${String(id)}`).catch((error: unknown) => {
        if ((error as { errno?: number }).errno !== noSuchThread) throw error;
      });
    }
  }
}

/**
 * The lock by which a source owns its pipeline. Known here once more on purpose: processes of two versions must keep
 * each other out while one replaces the other, so the name can't change.
 */
function lockName(table: string, pipeline: string): string {
  const hash = createHash('sha256').update(`${table}/${pipeline}`).digest('hex').slice(0, 24);
  return `strandline/${pipeline}/${hash}`;
}
