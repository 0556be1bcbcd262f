import { TcpProxy, testMysqlDatabase, type TestMysqlDatabase } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import {
  bothKinds,
  Follower,
  insert,
  insertMany,
  outboxTable,
  type FollowOptions,
} from './mysql-follower.js';

/** Short, so that the tests are; no less is allowed. */
const deadline = { silenceTimeout: 1_000, connectTimeout: 1_000 };

/** A connection that dies without a word: which one, counted from the start, and after what was heard of it. */
interface Death {
  readonly connection: number;
  readonly chunks: number;
}

function deaths(connections: number, chunks: readonly number[]): Death[] {
  return Array.from({ length: connections }, (_, index) => index + 1).flatMap((connection) =>
    chunks.map((count) => ({ connection, chunks: count })),
  );
}

/** A pipeline one of whose connections dies, and how its start ended. */
class Victim implements AsyncDisposable {
  readonly #proxy: TcpProxy;
  readonly refusal: (Error & { code: string }) | null;
  readonly follower: Follower | null;

  private constructor(proxy: TcpProxy, outcome: Follower | Error) {
    this.#proxy = proxy;
    this.follower = outcome instanceof Follower ? outcome : null;
    this.refusal = outcome instanceof Follower ? null : (outcome as Error & { code: string });
  }

  static async start(db: TestMysqlDatabase, death: Death, options: FollowOptions): Promise<Victim> {
    const proxy = await TcpProxy.start(db.url);
    proxy.freezeLater(death);
    const name = `dies-${String(death.connection)}-${String(death.chunks)}`;
    const outcome = await Follower.start(proxy.url, { name, ...deadline, ...options }).catch(
      (error: unknown) => error as Error,
    );
    return new Victim(proxy, outcome);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.follower?.stop();
    await this.#proxy[Symbol.asyncDispose]();
  }
}

/** Pipelines at once: each has some connections, and the server takes only so many. */
const AT_ONCE = 8;

/**
 * Lets each of these deaths come over a pipeline of its own. Resolves with how many did not start; the others must have
 * handed out everything, `last` included, which is inserted once they have started.
 */
async function survive(
  db: TestMysqlDatabase,
  dying: readonly Death[],
  rows: number,
  options: FollowOptions = {},
): Promise<number> {
  let refused = 0;
  for (let at = 0; at < dying.length; at += AT_ONCE) {
    const victims = await Promise.all(
      dying.slice(at, at + AT_ONCE).map((death) => Victim.start(db, death, options)),
    );
    try {
      await insert(db.pool, 'last');
      rows += 1;
      for (const { refusal, follower } of victims) {
        if (refusal !== null) expect(refusal).toMatchObject({ code: 'MYSQL_UNREACHABLE', transient: true });
        if (refusal !== null) refused += 1;
        await follower?.untilEvents(options.start === 'snapshot' ? rows : 1);
      }
    } finally {
      await Promise.all(victims.map((victim) => victim[Symbol.asyncDispose]()));
    }
  }
  return refused;
}

async function millisecondsToHash(db: TestMysqlDatabase, characters: number): Promise<number> {
  const startedAt = performance.now();
  await db.pool.query("SELECT sha2(repeat('x', ?), 512)", [characters]);
  return performance.now() - startedAt;
}

describe.each(bothKinds)('a connection that dies without a word: %s', (kind) => {
  test('on the way up is an error of the start, in time, or is made anew', { timeout: 120_000 }, async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(outboxTable);
    const refused = await survive(db, deaths(10, [0, 2, 5, 9]), 0);
    expect(refused).toBeGreaterThan(10);
  });

  test('in a start snapshot too, where rows are large as well', { timeout: 180_000 }, async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(outboxTable);
    const large = 'x'.repeat(10_000);
    for (let n = 0; n < 5; n += 1) await insertMany(db.pool, 100, large);
    const refused = await survive(db, deaths(9, [0, 4, 9, 14, 25]), 500, { start: 'snapshot' });
    expect(refused).toBeGreaterThan(5);
  });

  test('is told from one over which the server works for longer than it may be silent', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(outboxTable);
    await insertMany(db.pool, 400);
    // To bring the rows in order each of them is looked at, which takes 8 ms a row as measured here and now.
    const characters = Math.round((8 / (await millisecondsToHash(db, 10_000_000))) * 10_000_000);
    await db.pool.query(
      `ALTER TABLE outbox ADD slow char(128) AS (sha2(repeat(left(payload, 1), ${String(characters)}), 512)) VIRTUAL`,
    );
    const outbox = { table: 'outbox', id: 'id', key: 'key', payload: 'payload', snapshotOrder: ['slow'] };
    await using follower = await Follower.start(db.url, { ...deadline, start: 'snapshot', outbox });
    const startedAt = performance.now();
    await follower.untilEvents(400, 50_000);
    expect(performance.now() - startedAt, 'it took long').toBeGreaterThan(2 * deadline.silenceTimeout);
    expect(follower.pipeline.status().epoch, 'it was the owner all along').toBe(1);
  });
});
