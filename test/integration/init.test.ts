import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { main } from '@strandline/cli';
import { waitUntil } from '@strandline/test-kit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../packages/cli/src/load-config.js';
import { foreignTable, shop } from './foreign-outbox.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command in this process, without a terminal. */
function strandline(...args: string[]): Promise<Run> {
  return strandlineTo(null, ...args);
}

/** @param failure of every write to stdout */
async function strandlineTo(failure: Error | null, ...args: string[]): Promise<Run> {
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({
    write(text: string, done?: (error?: Error | null) => void) {
      written[name] += text;
      done?.(name === 'stdout' ? failure : null);
    },
  });
  const code = await main(args, {
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
  });
  return { code, ...written };
}

/** The working directory of one test, away from the repository: no package.json, no tsconfig. */
class Folder implements Disposable {
  readonly #path = mkdtempSync(path.join(tmpdir(), 'strandline-init-'));
  readonly #before = process.cwd();

  constructor() {
    process.chdir(this.#path);
  }

  read(name: string): string {
    return readFileSync(path.join(this.#path, name), 'utf8');
  }

  get texts(): string[] {
    return readdirSync(this.#path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.env'))
      .map(({ name }) => this.read(name));
  }

  [Symbol.dispose](): void {
    process.chdir(this.#before);
    rmSync(this.#path, { recursive: true });
  }
}

interface Report {
  readonly steps: readonly { readonly text: string; readonly done: boolean; readonly by: string | null }[];
  readonly config: { readonly result: string };
  readonly variables: readonly object[];
}

function urlIn(envFile: string): URL {
  return new URL(/^DATABASE_URL=(.*)$/m.exec(envFile)?.[1] ?? '');
}

interface Handled {
  readonly key: string;
  readonly type: string | null;
  readonly payload: string | null;
}

/** The config with a handler of one's own. */
function withHandler(config: string): string {
  const own = config.replace(
    /ctx\.log\.info\(.*\);/,
    'globalThis.handled.push({ key: event.key, type: event.type, payload: event.payloadText });',
  );
  expect(own).not.toBe(config);
  return own;
}

const CASES = [
  ['postgres', 'Debezium'],
  ['postgres', 'Rails'],
  ['postgres', 'camelCase'],
  ['mysql', 'Debezium'],
  ['mysql', 'Rails'],
  ['mysql', 'camelCase'],
  ['mariadb', 'Rails'],
] as const;

describe.each(CASES)('strandline init on %s, with a table as of %s', (kind, layout) => {
  test('writes a config that runs in order, as a user that may do little else', async () => {
    await using db = await shop(kind);
    using folder = new Folder();
    const { table, inserts, keys, type } = foreignTable(layout, kind);
    await db.run(table);
    await db.run('create table users (id bigint primary key, email varchar(100), settings text)');
    const args = ['init', '--url', db.url, '--role', db.role];

    const first = await strandline(...args, '--apply');
    expect(first, first.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('npx strandline run');
    const env = folder.read('.env.strandline');
    expect(statSync('.env.strandline').mode & 0o777).toBe(0o600);
    expect(folder.read('.gitignore')).toBe('.env.strandline\n');

    const second = await strandline(...args, '--apply', '--json');
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(second.stdout) as Report).toMatchObject({
      ...{ steps: [], variables: [], config: { result: 'same' }, envFile: { result: 'same' } },
    });
    expect(folder.read('.env.strandline')).toBe(env);

    const secrets = [new URL(db.url).password, urlIn(env).password];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(8);
      for (const text of [first.stdout, second.stdout, ...folder.texts]) expect(text).not.toContain(secret);
    }
    expect(urlIn(env).username).toBe(db.role);

    vi.stubEnv('DATABASE_URL', urlIn(env).href);
    const doctor = await strandline('doctor', '--json');
    expect(doctor.stderr).toBe('');
    expect(doctor.stdout).not.toContain("can't be asked");
    // On the others newcomer.test.ts runs each config, by the command.
    if (kind !== 'mariadb') return;

    // Under another name: a module is loaded once.
    const config = path.resolve('own.config.ts');
    writeFileSync(config, withHandler(folder.read('strandline.config.ts')));
    const handled: Handled[] = [];
    Object.assign(globalThis, { handled });
    vi.stubEnv('LOG_LEVEL', 'silent');
    const [pipeline] = await loadConfig(config);
    if (pipeline === undefined) throw new Error('the config has no pipeline');
    await pipeline.start();
    try {
      expect(await db.sessionsOfRole()).toBeGreaterThan(0);
      for (const insert of inserts) await db.run(insert);
      await waitUntil('all were handled', () => Promise.resolve(handled.length === inserts.length));
    } finally {
      await pipeline.stop();
    }
    const numbersOf = (key: string): number[] =>
      handled
        .filter((event) => event.key === key)
        .map(({ payload }) => (JSON.parse(payload ?? '') as { version: number }).version);
    expect(keys.map(numbersOf)).toEqual([
      [2, 4, 6],
      [1, 3, 5],
    ]);
    expect(new Set(handled.map((event) => event.type))).toEqual(new Set([type]));
  });
});

describe('strandline init', () => {
  test('writes and runs nothing with --dry-run, and nothing on the server without --apply', async () => {
    await using db = await shop('postgres');
    using folder = new Folder();
    await db.run(foreignTable('Rails', 'postgres').table);
    const args = ['init', '--url', db.url, '--role', db.role, '--json'];
    const dry = JSON.parse((await strandline(...args, '--dry-run')).stdout) as Report;
    expect(readdirSync('.')).toEqual([]);
    expect(dry.config.result).toBe('dry run');
    expect(dry.steps.map(({ text }) => text.split(' ').slice(0, 2).join(' '))).toEqual([
      ...['create role', 'grant select', 'create schema', 'grant usage,', 'create publication'],
    ]);
    const plain = JSON.parse((await strandline(...args)).stdout) as Report;
    expect(plain.steps).toEqual(dry.steps);
    expect(readdirSync('.')).toEqual(['strandline.config.ts']);

    // And a config of somebody's own is left alone.
    writeFileSync('strandline.config.ts', '// mine');
    const kept = JSON.parse((await strandline(...args)).stdout) as Report;
    expect([kept.config.result, folder.read('strandline.config.ts')]).toEqual(['kept', '// mine']);
    const forced = JSON.parse((await strandline(...args, '--force')).stdout) as Report;
    expect(forced.config.result).toBe('overwritten');
  });

  test('does its work to the end when nobody reads what it prints', async () => {
    await using db = await shop('postgres');
    using folder = new Folder();
    await db.run(foreignTable('Rails', 'postgres').table);
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const ran = await strandlineTo(gone, 'init', '--url', db.url, '--role', db.role, '--apply');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(folder.read('strandline.config.ts')).toContain('outbox_events');
    vi.stubEnv('DATABASE_URL', urlIn(folder.read('.env.strandline')).href);
    const doctor = await strandline('doctor', '--json');
    expect(doctor.stderr).toBe('');
  });

  test('stops at the first statement that is refused, says what was done, and goes on from there', async () => {
    await using db = await shop('postgres');
    using folder = new Folder();
    await db.run(foreignTable('Rails', 'postgres').table);
    // The right to make publications is seen only when one is made: an event trigger refuses it.
    await db.run(`create function no_publications() returns event_trigger language plpgsql as $$ begin raise exception 'not here'; end $$;
      create event trigger no_publications on ddl_command_start when tag in ('CREATE PUBLICATION') execute function no_publications()`);
    const args = ['init', '--url', db.url, '--role', db.role, '--apply', '--json'];
    const refused = await strandline(...args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/SETUP_STATEMENT[\s\S]*create publication[\s\S]*not here/);
    const { steps } = JSON.parse(refused.stdout) as Report;
    expect(steps.map(({ done }) => done)).toEqual([true, true, true, true, false]);
    const env = folder.read('.env.strandline');
    await db.run('drop event trigger no_publications');
    const again = await strandline(...args);
    expect(
      (JSON.parse(again.stdout) as Report).steps.map(({ text, done }) => [text.slice(0, 18), done]),
    ).toEqual([['create publication', true]]);
    expect(folder.read('.env.strandline')).toBe(env);
  });

  test.each(['postgres', 'mysql'] as const)('makes the table of the preset on %s', async (kind) => {
    await using db = await shop(kind);
    using folder = new Folder();
    const args = ['init', '--url', db.url, '--role', db.role, '--create-table', '--apply', '--json'];
    const first = JSON.parse((await strandline(...args)).stdout) as Report;
    expect(first.steps[0]).toMatchObject({
      text: expect.stringContaining('strandline_outbox') as string,
      done: true,
    });
    expect(JSON.parse((await strandline(...args)).stdout)).toMatchObject({ steps: [] });
    expect(folder.read('strandline.config.ts')).toContain("strandline_outbox'");
  });

  test('names the flag that is missing, and answers 2', async () => {
    await using db = await shop('postgres');
    using folder = new Folder();
    vi.stubEnv('DATABASE_URL', '');
    expect(await strandline('init')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--url') as string,
    });
    vi.stubEnv('DATABASE_URL', db.url);
    const nothing = await strandline('init');
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('--table') as string });
    await db.run(
      'create table outbox (id bigint primary key, order_id bigint, customer_id bigint, payload jsonb)',
    );
    const unsure = await strandline('init');
    expect(unsure).toMatchObject({ code: 2, stderr: expect.stringMatching(/--key[\s\S]*/) as string });
    expect(unsure.stderr).toContain('It may be order_id, or customer_id');
    const wrong = await strandline('init', '--key', 'order');
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no column "order"') as string,
    });
    const away = await strandline('init', '--url', 'mysql://root:hunter2@127.0.0.1:1/shop');
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('SETUP_UNREACHABLE') as string });
    expect(away.stderr).not.toContain('hunter2');
    expect(folder.texts).toEqual([]);
  });
});
