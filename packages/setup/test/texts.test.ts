import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseSync } from 'vite';
import { pipelineNameOf, PIPELINE_NAME, serverNameOf, type Choice } from '../src/choice.js';
import { configText, type ConfigRequest } from '../src/config-text.js';
import { shellText, valueIn, withIgnored, withVariables } from '../src/env-text.js';
import { newPassword } from '../src/password.js';
import { placeOf, shownUrl, urlOf } from '../src/place.js';
import { runSteps } from '../src/run-steps.js';
import { statement } from '../src/steps.js';

const CHOICE: Choice = {
  name: 'shop-outbox',
  table: { schema: 'public', name: 'outbox_events' },
  create: false,
  mapping: { id: 'id', key: ['aggregate_id'], type: 'event_type', payload: 'payload', headers: null },
  ...{ start: 'now', role: 'strandline', deadLetters: true },
};

const REQUEST: ConfigRequest = {
  ...{
    flavour: 'postgres',
    choice: CHOICE,
    offsets: { directory: './offsets' },
    webhook: false,
    textPayload: false,
  },
  key: {
    why: 'everything about one aggregate in order',
    alternatives: [{ columns: ['aggregate_type', 'aggregate_id'], why: 'each aggregate_type by itself' }],
  },
};

function errorsIn(text: string): string[] {
  return parseSync('strandline.config.ts', text).errors.map(({ message }) => message);
}

describe('the config', () => {
  test('reads as if somebody had written it', () => {
    expect(configText(REQUEST))
      .toBe(`import { deadLetters, definePipeline, env, fileOffsets, postgres } from 'strandline';

// From the variable, or from the file that DATABASE_URL_FILE names: no secret is in this file.
const url = env('DATABASE_URL');

export default definePipeline({
  // Names the saved offset, the slot and the publication: it must not change once the pipeline has run.
  name: 'shop-outbox',

  source: postgres({
    url,
    outbox: {
      table: 'public.outbox_events',
      // The same at every redelivery: what a handler deduplicates on.
      id: 'id',
      // What is handled in order, one event at a time; events of different keys run in parallel.
      // Everything about one aggregate in order.
      // Or ['aggregate_type', 'aggregate_id']: each aggregate_type by itself.
      key: 'aggregate_id',
      type: 'event_type',
      payload: 'payload',
    },
    // The first start begins with what commits from then on.
    start: 'now',
  }),

  // How far it is, in a folder that must outlive the process; or redisOffsets({ url: env('REDIS_URL') }).
  offsets: fileOffsets({ directory: './offsets' }),
  // Where an event that fails for good waits, with all that follows of its key, while other keys go on.
  deadLetters: deadLetters({ postgres: { url }, schema: 'strandline' }),
  // Your code. What it throws is tried again, and the key waits. event.payload is the row's; ctx.log knows the key.
  handle(event, ctx) {
    ctx.log.info({ id: event.id, type: event.type }, 'handled');
  },
});
`);
  });

  test.each([
    ['a webhook, Redis', { webhook: true, offsets: { redis: 'redis://:hunter2@r' } }],
    ['MySQL, no dead letters', { flavour: 'mysql', choice: { ...CHOICE, deadLetters: false } }],
    ['a text payload', { textPayload: true }],
    [
      'names of another mind',
      {
        choice: {
          ...CHOICE,
          table: { schema: "it's", name: 'a\\b"c\n' },
          mapping: { ...CHOICE.mapping, key: ['${x}', '`'] },
        },
        key: { why: 'x\n*/ process.exit()', alternatives: [{ columns: ['a\u2028b'], why: '\r\nb' }] },
      },
    ],
  ] as const)('is TypeScript with %s, and holds no secret', (_, request) => {
    const text = configText({ ...REQUEST, ...request });
    expect(errorsIn(text)).toEqual([]);
    expect(text).not.toContain('hunter2');
    for (const line of text.split('\n').filter((line) => line.includes('process.exit')))
      expect(line.trimStart()).toMatch(/^\/\//);
  });

  test('warns of a start that is left in, where the server can not tell a first start', () => {
    expect(configText({ ...REQUEST, flavour: 'mariadb' })).toMatch(
      /Take it out once[^\n]*\n {4}start: 'now'/,
    );
  });
});

describe('names', () => {
  test.each([
    ['shop', 'outbox', 'shop-outbox'],
    ['Shop_DB', 'OutboxMessages', 'shop-db-outbox-messages'],
    ['ш', 'ö', 'outbox'],
    ['x'.repeat(60), 'outbox', 'x'.repeat(50)],
  ])('of %s and %s a pipeline is called %s', (database, table, name) => {
    expect(pipelineNameOf(database, table)).toBe(name);
    expect(name).toMatch(PIPELINE_NAME);
  });

  test('of slot and publication are those that the source takes', () => {
    expect(serverNameOf('shop-outbox')).toBe('strandline_shop_outbox');
  });
});

describe('connection strings', () => {
  test.each([
    [
      'postgresql://app:p%40ss@db/shop?sslmode=require',
      'postgres',
      'postgres://app:p%40ss@db/shop?sslmode=require',
      'db:5432/shop',
    ],
    ['mariadb://app:x@db:3307/shop', 'mysql', 'mysql://app:x@db:3307/shop', 'db:3307/shop'],
  ])('%s is read', (text, protocol, url, target) => {
    expect(placeOf(text)).toEqual({ protocol, url, user: 'app', target });
  });

  test('a password from elsewhere is put in where there is none', () => {
    expect(placeOf('postgres://app@db/shop', 'p@ss').url).toBe('postgres://app:p%40ss@db/shop');
    expect(placeOf('postgres://app:own@db/shop', 'p@ss').url).toBe('postgres://app:own@db/shop');
  });

  test.each([
    'hunter2',
    'mongodb://a:hunter2@db/shop',
    'postgres://a:hunter2@db',
    'postgres://:hunter2@db/x',
    'postgres://%zz:hunter2@db/x',
  ])('%s is refused, and not shown', (text) => {
    expect(() => placeOf(text)).toThrow(expect.objectContaining({ code: 'SETUP_URL' }) as Error);
    expect(() => placeOf(text)).not.toThrow(/hunter2/);
  });

  test("of another user have that one's password, or none", () => {
    const place = placeOf('postgres://app:hunter2@db/shop?sslmode=require');
    expect(urlOf(place, 'reader', 'new')).toBe('postgres://reader:new@db/shop?sslmode=require');
    expect(urlOf(place, 'reader', null)).toBe('postgres://reader@db/shop?sslmode=require');
  });

  test.each([
    ['postgres://app:hunter2@db/shop?sslmode=require', 'postgres://app:<password>@db/shop?sslmode=require'],
    ['postgres://app@db/shop', 'postgres://app@db/shop'],
    ['redis://:hunter2@r:6379/1', 'redis://:<password>@r:6379/1'],
    ['https://hook.example/a?token=hunter2', 'https://hook.example/a?token=<…>'],
    ['hunter2', '<…>'],
  ])('%s is shown without its secrets', (text, shown) => {
    expect(shownUrl(text)).toBe(shown);
  });
});

describe('an env file', () => {
  test('gets what it lacks, and keeps what it has', () => {
    const text = withVariables('A=1\nexport DATABASE_URL="mine"', [
      { name: 'DATABASE_URL', value: 'theirs' },
      { name: 'REDIS_URL', value: 'redis://r?a=1&b=2' },
    ]);
    expect(text).toBe(`A=1\nexport DATABASE_URL="mine"\nREDIS_URL='redis://r?a=1&b=2'\n`);
    expect([valueIn(text, 'DATABASE_URL'), valueIn(text, 'REDIS_URL'), valueIn(text, 'B')]).toEqual([
      ...['mine', 'redis://r?a=1&b=2', null],
    ]);
    expect(withVariables(text, [{ name: 'A', value: '2' }])).toBe(text);
  });

  test('gives a shell and Node every password back', () => {
    const passwords = Array.from({ length: 95 }, (_, n) => `a${String.fromCharCode(32 + n)}b`);
    const place = placeOf('postgres://app@db/shop');
    const variables = passwords.flatMap((password, n) => [
      { name: `MADE_${String(n)}`, value: urlOf(place, 'reader', password) },
      { name: `GIVEN_${String(n)}`, value: placeOf('postgres://app@db/shop', password).url },
    ]);
    const text = withVariables('', variables);
    const folder = mkdtempSync(path.join(tmpdir(), 'strandline-env-'));
    let printed: string;
    try {
      writeFileSync(path.join(folder, 'env'), text);
      printed = execFileSync(
        'sh',
        ['-c', 'set -a; . ./env; exec "$0" -p "JSON.stringify(process.env)"', process.execPath],
        { cwd: folder, encoding: 'utf8' },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
    for (const read of [parseEnv(text), JSON.parse(printed) as NodeJS.Dict<string>]) {
      for (const name of ['MADE', 'GIVEN'])
        expect(
          passwords.map((_, n) => decodeURIComponent(new URL(read[`${name}_${String(n)}`] ?? '').password)),
        ).toEqual(passwords);
    }
  });

  test('is left out by git, once', () => {
    expect(withIgnored('node_modules', '.env')).toBe('node_modules\n.env\n');
    expect(withIgnored('/.env\n', '.env')).toBeNull();
    expect(withIgnored('.env*\n', '.env')).toBeNull();
  });

  test.each(['!.env', '!/.env', '!.env*', '!**/.e?v'])('is left out anew after %s', (line) => {
    const text = withIgnored(`.env\n${line}\n`, '.env');
    expect(text).toBe(`.env\n${line}\n.env\n`);
    expect(withIgnored(text ?? '', '.env')).toBeNull();
    expect(withIgnored(`${line}\n.env\n`, '.env')).toBeNull();
  });

  test('holds a new password without quotes', () => {
    const password = newPassword();
    expect(password).toMatch(/^[\w-]{36}$/);
    expect(encodeURIComponent(password)).toBe(password);
    expect(shellText(`postgres://a:${password}@db/shop`)).not.toContain("'");
  });
});

describe('statements', () => {
  const steps = [
    statement('create role "r" password \'<password>\';', ''),
    statement('alter system set x = 1;', '', 'a superuser'),
    statement('grant y;', ''),
  ];
  const literal = (text: string): string => `'${text}'`;

  test('are run in order, those of others left out, with the password in its place', async () => {
    const ran: string[] = [];
    const run = (sql: string): Promise<void> => Promise.resolve(void ran.push(sql));
    const done: string[] = [];
    await runSteps(steps, 'pa$&ss', { run, literal }, ({ text }) => done.push(text));
    expect(ran).toEqual([`create role "r" password 'pa$&ss'`, 'grant y']);
    expect(done).toEqual([steps[0]?.text, steps[2]?.text]);
  });

  test('that are refused stop the rest, and never show the password', async () => {
    const run = (sql: string): Promise<never> => Promise.reject(new Error(`syntax error at ${sql}`));
    const error: unknown = await runSteps(steps, 'hunter2', { run, literal }, () => undefined).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'SETUP_STATEMENT' });
    expect((error as Error).cause).toBeUndefined();
    expect(String(error)).toContain('<password>');
    expect(String(error)).not.toContain('hunter2');
  });
});
