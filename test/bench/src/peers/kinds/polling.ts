import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Consumption } from '../process/kind.js';

/** Between two looks when there was nothing, in milliseconds. */
const IDLE = 10;

/** Several loops that take a batch as long as there is one; `take` gives the number of rows. */
export function poll(takers: readonly (() => Promise<number>)[]): Consumption {
  let isStopped = false;
  const loops = takers.map(async (take) => {
    while (!isStopped) {
      if ((await take()) === 0) await sleep(IDLE);
    }
  });
  // A peer that can't go on has to be seen: it would be taken for a slow one.
  for (const loop of loops) {
    loop.catch((error: unknown) => {
      setImmediate(() => {
        throw error;
      });
    });
  }
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}

/** So many workers with a connection each; a batch is a transaction, which `take` need not begin or end. */
export async function pollInTransactions(
  url: string,
  workers: number,
  take: (client: pg.PoolClient) => Promise<number>,
): Promise<Consumption> {
  const pool = new pg.Pool({ connectionString: url, max: workers });
  const taken = async (): Promise<number> => {
    const client = await pool.connect();
    await client.query('begin');
    const rows = await take(client);
    await client.query('commit');
    client.release();
    return rows;
  };
  await pool.query('select');
  const loop = poll(Array.from({ length: workers }, () => taken));
  return {
    async stop() {
      await loop.stop();
      await pool.end();
    },
  };
}
