import pg from 'pg';
import { expect, test } from 'vitest';
import { startPgBouncer, startPostgres } from '../src/index.js';

test('PgBouncer serves the upstream’s databases and pools by transaction', async () => {
  await using upstream = await startPostgres({ exclusive: true });
  await using bouncer = await startPgBouncer({ upstream });
  expect(new URL(bouncer.url).port).not.toBe(String(upstream.port));

  const client = new pg.Client(bouncer.url);
  await client.connect();
  const { rows } = await client.query<{ port: number }>('SELECT inet_server_port() AS port');
  expect(rows).toEqual([{ port: upstream.port }]);
  await client.end();

  const console_ = new pg.Client(Object.assign(new URL(bouncer.url), { pathname: '/pgbouncer' }).href);
  await expect(console_.connect()).rejects.toThrow(/not allowed/);

  await bouncer.stop();
  await expect(new pg.Client(bouncer.url).connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
}, 120_000);
