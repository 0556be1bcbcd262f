import { testDatabase, waitUntil, type TestDatabase } from '@strandline/test-kit';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CommandFolder, CONFIG, type StrandlineCommand } from './strandline-command.js';

const SECRET = 'hunter2-of-the-service';

let folder: CommandFolder;

beforeEach(() => {
  folder = new CommandFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

/** Two pipelines on one outbox; what they connect to and what a handler is given comes from the environment alone. */
const TWO = `import { appendFileSync } from 'node:fs';
import { definePipeline, env, fileOffsets, postgres } from 'strandline';
const pipeline = (name) => definePipeline({
  name,
  source: postgres({ url: env('DATABASE_URL'), slot: env('SLOT') + name, publication: env('SLOT') + name, outbox: { table: 'orders', id: 'id', key: 'key' } }),
  offsets: fileOffsets({ directory: 'offsets' }),
  async handle(event) {
    if (event.key === 'held') await new Promise(() => {});
    appendFileSync('handled', name + ' ' + env('GREETING') + '\\n');
  },
  drainTimeout: 100,
});
export default [pipeline('mails'), pipeline('stock')];
`;

async function orders(): Promise<TestDatabase> {
  const db = await testDatabase();
  await db.pool.query(
    'CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL)',
  );
  return db;
}

function slotOf({ url }: TestDatabase): string {
  return `${new URL(url).pathname.slice(1)}_`;
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

async function health(args: readonly string[]): Promise<[number | null, StrandlineCommand]> {
  const command = folder.start(['health', ...args]);
  return [await command.exitCode(), command];
}

describe('strandline run as a service', () => {
  test('takes config and secrets from the environment, and tells its health', async () => {
    await using db = await orders();
    const admin = await freePort();
    writeFileSync(folder.file(CONFIG), TWO);
    writeFileSync(folder.file('secret'), `${SECRET}\n`);
    writeFileSync(
      folder.file('service.env'),
      `DATABASE_URL=${db.url}\nSLOT="${slotOf(db)}"\nGREETING=of the file\n`,
    );
    const env = { STRANDLINE_CONFIG: CONFIG, GREETING: '', GREETING_FILE: 'secret', STRANDLINE_ADMIN: admin };

    expect((await health(['--admin', admin]))[0]).toBe(1);
    const service = folder.start(['run', '--dotenv', 'service.env', '--stalled-after', '1s'], { env });
    await service.says('ready: running mails, stock');
    const [code, { stdout }] = await health(['--admin', admin]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { status: 'ok', pipelines: [{ pipeline: 'mails' }, {}] },
    ]);

    await db.pool.query(`INSERT INTO orders (key) VALUES ('a'), ('held')`);
    await waitUntil('a pipeline that stands still with work is not healthy', async () => {
      const answer = await fetch(`http://127.0.0.1:${admin}/healthz`);
      const { pipelines } = (await answer.json()) as { pipelines: { reasons: string[] }[] };
      return (
        answer.status === 503 && pipelines.every(({ reasons }) => reasons.join().includes('1 handler runs'))
      );
    });
    expect((await health(['--admin', admin, '--probe', 'readyz']))[0]).toBe(0);

    service.child.kill('SIGTERM');
    expect(await service.exitCode(), service.stderr).toBe(0);
    expect(service.stderr).not.toContain(SECRET);
  });

  test('runs the pipelines that are named and no other, and says what is wrong with a name', async () => {
    await using db = await orders();
    writeFileSync(folder.file(CONFIG), TWO);
    const env = { DATABASE_URL: db.url, SLOT: slotOf(db), GREETING: SECRET };
    const wrong = folder.start(['run', '--pipeline', 'mail'], { env });
    const none = folder.start(['run', '--dotenv', 'none.env'], { env });
    const nowhere = folder.start(['run', '--admin', 'here'], { env });
    expect([await wrong.exitCode(), await none.exitCode(), await nowhere.exitCode()]).toEqual([2, 2, 2]);
    expect(wrong.message).toContain('It has mails, stock.');
    expect(none.message).toContain('none.env can not be read');
    expect(nowhere.message).toContain('ADMIN_CONFIG');

    const service = folder.start(['run', '--pipeline', 'stock'], { env });
    await service.says('ready: running stock');
    const slots = await db.pool.query(
      'SELECT slot_name FROM pg_replication_slots WHERE starts_with(slot_name, $1)',
      [slotOf(db)],
    );
    expect(slots.rows).toEqual([{ slot_name: `${slotOf(db)}stock` }]);
    service.child.kill('SIGTERM');
    expect(await service.exitCode(), service.stderr).toBe(0);
  });
});
