import pg from 'pg';
import { expect, test } from 'vitest';
import { startPgBouncer, startPostgres } from '../src/index.js';

test('PgBouncer serves the upstream’s databases and pools by transaction', async () => {
  await using upstream = await startPostgres({ origin: 'local' });
  await using bouncer = await startPgBouncer({ upstream });
  await query(upstream.url, 'CREATE TABLE upstream_only AS SELECT 1 AS n');
  expect(new URL(bouncer.url).port).not.toBe(String(upstream.port));

  expect(await query(bouncer.url, 'SELECT n FROM upstream_only')).toEqual([{ n: 1 }]);

  // Its own console is not for this user; no Postgres would say so.
  const consoleUrl = Object.assign(new URL(bouncer.url), { pathname: '/pgbouncer' }).href;
  await expect(query(consoleUrl, 'SHOW VERSION')).rejects.toThrow(/not allowed/);

  await bouncer.stop();
  await expect(query(bouncer.url, 'SELECT')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
}, 120_000);

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
