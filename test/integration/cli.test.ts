import { testDatabase, waitUntil, type TestDatabase } from '@strandline/test-kit';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { binOf, CommandFolder, type StrandlineCommand } from './strandline-command.js';

/** In every connection string that must not work, and in no output. */
const PASSWORD = 'hunter2-and-more';
const PAYLOAD = 'the-payload-of-4711';
/** Two busy cores load a Node process with all its modules in a second or two. */
const upWithin = { deadlineMs: 20_000 };

let folder: CommandFolder;

beforeEach(() => {
  folder = new CommandFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  for (const { stdout, stderr } of folder.started) {
    expect(stdout).toBe('');
    expect(stderr).not.toContain(PASSWORD);
    expect(stderr).not.toContain(PAYLOAD);
  }
});

function strandline(env: Record<string, string> = {}, ...args: string[]): StrandlineCommand {
  return folder.start(['run', ...args], { env });
}

function write(name: string, text: string): void {
  writeFileSync(folder.file(name), text);
}

/** What a pipeline on the table `orders` is made of; `more` may replace parts of it. */
function pipeline(db: { readonly url: string }, more = ''): string {
  return `definePipeline({
    name: 'orders',
    source: postgres({ url: '${db.url}', slot: '${slotOf(db)}', outbox: { table: 'orders', id: 'id', key: 'key', payload: 'payload' } }),
    offsets: fileOffsets({ directory: 'offsets' }),
    handle() {},
    ${more}
  })`;
}

function config(exported: string): string {
  return `import { definePipeline, fileOffsets, postgres, redisOffsets, type OutboxEvent } from 'strandline';
    import { appendFileSync, existsSync } from 'node:fs';
    import { setTimeout as delay } from 'node:timers/promises';
    export default ${exported};`;
}

/** Writes down when it begins and ends, and ends once the file \`release\` is there. */
const HELD_HANDLER = `async handle(event: OutboxEvent) {
  appendFileSync('history', 'begins ' + event.id + '\\n');
  while (!existsSync('release')) await delay(10);
  appendFileSync('history', 'ends ' + event.id + '\\n');
}`;

function history(): string[] {
  const file = folder.file('history');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

async function historyIs(...lines: string[]): Promise<void> {
  await waitUntil(`the history is ${lines.join(', ')}`, () => history().join() === lines.join(), upWithin);
}

async function orders(): Promise<TestDatabase> {
  const db = await testDatabase();
  await db.pool.query(
    'CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text, payload text)',
  );
  return db;
}

function slotOf({ url }: { readonly url: string }): string {
  return `${new URL(url).pathname.slice(1)}_slot`;
}

async function insert(db: TestDatabase, ...keys: (string | null)[]): Promise<void> {
  await db.pool.query('INSERT INTO orders (key, payload) SELECT key, $2 FROM unnest($1::text[]) AS key', [
    keys,
    PAYLOAD,
  ]);
}

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('strandline run', () => {
  test('drains on SIGTERM, exits with 0, and goes on where it stood', async () => {
    await using db = await orders();
    write('strandline.config.ts', config(pipeline(db, HELD_HANDLER)));
    const first = strandline();
    await first.says('"msg":"ready: running orders"');
    await insert(db, 'a', 'a');
    await historyIs('begins 1');

    first.child.kill('SIGTERM');
    await first.says('"msg":"stopping');
    expect(first.child.exitCode).toBe(null);
    write('release', '');

    expect(await first.exitCode(), first.stderr).toBe(0);
    expect(first.message).toBe('');
    expect(history()).toEqual(['begins 1', 'ends 1']);
    const second = strandline();
    await historyIs('begins 1', 'ends 1', 'begins 2', 'ends 2');
    second.child.kill('SIGINT');
    expect(await second.exitCode(), second.stderr).toBe(0);
  });

  test('a second signal ends it at once, with a code of its own', async () => {
    await using db = await orders();
    write('strandline.config.ts', config(pipeline(db, HELD_HANDLER)));
    const command = strandline();
    await command.says('ready:');
    await insert(db, 'a');
    await historyIs('begins 1');

    command.child.kill('SIGTERM');
    await command.says('"msg":"stopping');
    // One that comes right after the first counts as the same.
    await waitUntil('it has ended', () => !command.child.kill('SIGTERM') || command.child.exitCode !== null);

    expect(await command.exitCode()).toBe(143);
    expect(history()).toEqual(['begins 1']);
  });

  test('a second process stands by, says so, and takes over', async () => {
    await using db = await orders();
    write('strandline.config.ts', config(pipeline(db)));
    const owner = strandline();
    await owner.says('ready: running orders');
    const standby = strandline();
    await standby.says('ready: standing by for orders');
    expect(standby.stderr).not.toContain('"msg":"running"');

    owner.child.kill('SIGTERM');
    expect(await owner.exitCode()).toBe(0);
    await standby.says('"msg":"running"');

    standby.child.kill('SIGTERM');
    expect(await standby.exitCode()).toBe(0);
  });

  test('a fault on the way gives one message and 1, and the other pipelines drain', async () => {
    await using db = await orders();
    await db.pool.query('CREATE TABLE mails (id bigint PRIMARY KEY, key text)');
    const mails = pipeline(
      db,
      `name: 'mails', source: postgres({ url: '${db.url}', slot: '${db.slot('mails')}', outbox: { table: 'mails', id: 'id', key: 'key' } }),`,
    );
    write('strandline.config.mts', config(`[${pipeline(db)}, ${mails}]`));
    const command = strandline();
    await command.says('ready: running orders, mails');

    await insert(db, null);

    expect(await command.exitCode()).toBe(1);
    expect(command.message).toMatch(/^strandline: PG_NULL_KEY \(pipeline orders\)\n( {2}\S.*\n){2,4}$/);
    expect(command.stderr).toMatch(/"pipeline":"mails","msg":"stopped"/);
  });

  test('the level holds for the pipelines, too', async () => {
    await using db = await orders();
    write('strandline.config.ts', config(pipeline(db)));
    const command = strandline({ LOG_LEVEL: 'info' }, '--log-level', 'error');
    await db.waitForSlot(slotOf(db), 'active', upWithin);
    command.child.kill('SIGTERM');
    expect(await command.exitCode()).toBe(0);
    expect(command.stderr).toBe('');
  });

  test('what nobody caught ends it with 1 and a message without the fields of the error', async () => {
    await using db = await orders();
    const crash = `handle() {
      setTimeout(() => { throw Object.assign(new TypeError('x is not a function'), { url: '${PASSWORD}' }); });
    }`;
    write('strandline.config.ts', config(pipeline(db, crash)));
    const command = strandline();
    await command.says('ready:');
    await insert(db, 'a');
    expect(await command.exitCode()).toBe(1);
    expect(command.message).toMatch(
      /^strandline: unexpected error\n {2}TypeError: x is not a function\n +at .*strandline\.config\.ts/,
    );
  });

  test.runIf(process.platform !== 'win32')('drains when the npm that started it is gone', async () => {
    await using db = await orders();
    write('strandline.config.ts', config(pipeline(db)));
    // As npm runs it: in a shell of its own, which gets the SIGTERM, dies of it, and does not pass it on.
    const shell = ['sh', '-c', `'${process.execPath}' '${binOf('cli')}' run; exit $?`] as const;
    const command = folder.start([], { env: { npm_lifecycle_event: 'npx' }, program: shell });
    await command.says('ready:');

    command.child.kill('SIGTERM');

    await command.exitCode(); // the shell's, and the end of the outputs that the command holds
    expect(command.stderr).toContain('"reason":"the npm that started it is gone"');
    expect(command.stderr).toContain('"msg":"stopped"');
    await db.waitForSlot(slotOf(db), 'inactive');
  });
});

describe('what can not start', () => {
  test('a server out of reach: one message without a stack, and 1', async () => {
    const port = await closedPort();
    write(
      'strandline.config.ts',
      config(pipeline({ url: `postgres://shop:${PASSWORD}@127.0.0.1:${String(port)}/shop` })),
    );
    const command = strandline();
    expect(await command.exitCode()).toBe(1);
    expect(command.message).toMatch(
      new RegExp(
        `^strandline: PG_UNREACHABLE \\(pipeline orders\\)\n {2}Postgres at 127\\.0\\.0\\.1:${String(port)}/shop can't be reached .*\n {2}Check host and port.*\n$`,
      ),
    );
  });

  test('with --verbose the stack comes along, and no password', async () => {
    const port = await closedPort();
    write(
      'strandline.config.ts',
      config(pipeline({ url: `postgres://shop:${PASSWORD}@127.0.0.1:${String(port)}/shop` })),
    );
    const command = strandline({}, '--verbose');
    expect(await command.exitCode()).toBe(1);
    expect(command.message).toMatch(/^strandline: PG_UNREACHABLE/);
    expect(command.message).toMatch(/\n +at .*source-postgres/);
    expect(command.message).toContain('caused by Error: connect ECONNREFUSED');
  });

  test('a login that is refused: 1, and no password even with LOG_LEVEL=debug', async () => {
    await using db = await orders();
    const url = new URL(db.url);
    url.username = 'nobody';
    url.password = PASSWORD;
    write('strandline.config.ts', config(pipeline({ url: url.href })));
    const command = strandline({ LOG_LEVEL: 'debug' });
    expect(await command.exitCode()).toBe(1);
    expect(command.message).toMatch(/^strandline: PG_AUTHENTICATION \(pipeline orders\)\n/);
    expect(command.message).toMatch(/\n +at /);
  });

  test('Redis away: 1, and no password', async () => {
    await using db = await orders();
    const redis = `redis://:${PASSWORD}@127.0.0.1:${String(await closedPort())}`;
    write(
      'strandline.config.ts',
      config(pipeline(db, `offsets: redisOffsets({ url: '${redis}', connectTimeout: 300 }),`)),
    );
    const command = strandline();
    expect(await command.exitCode()).toBe(1);
    expect(command.message).toMatch(/^strandline: OFFSETS_UNAVAILABLE \(pipeline orders\)\n/);
    await db.waitForSlot(slotOf(db), 'gone');
  });

  test('no config: 2', async () => {
    const command = strandline();
    expect(await command.exitCode()).toBe(2);
    expect(command.stderr).toMatch(/^strandline: CLI_CONFIG_MISSING\n {2}There is no config in /);
  });

  test.each([
    ['CLI_CONFIG_INVALID', `export default '${PASSWORD}'`],
    ['CLI_CONFIG_FAILED', `const url = '${PASSWORD}';\nexport default {{;`],
    ['PG_CONFIG', config(pipeline({ url: `mysql://shop:${PASSWORD}@db/shop` }))],
  ])('a config with %s: 2, and the file is named', async (code, text) => {
    write('given.ts', text);
    const command = strandline({}, '--config', 'given.ts');
    expect(await command.exitCode()).toBe(2);
    expect(command.stderr).toMatch(new RegExp(`^strandline: ${code}\\b`));
    expect(command.stderr).toContain(folder.file('given.ts'));
    expect(command.stderr).not.toMatch(/\n +at /);
  });

  test('an unknown command, by the bin of the package strandline: 2', async () => {
    const command = folder.start(['rnu'], { program: [process.execPath, binOf('strandline')] });
    expect(await command.exitCode()).toBe(2);
    expect(command.stderr).toContain("unknown command 'rnu'");
  });
});
