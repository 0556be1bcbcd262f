import { PassThrough } from 'node:stream';
import { placeOf, type Survey, type TableFacts } from '@strandline/setup';
import { describe, expect, test } from 'vitest';
import type { Answer, Asker, TextOptions } from '../src/init/asker.js';
import { decide } from '../src/init/decide.js';
import type { InitOptions } from '../src/init/options.js';
import { nextCommands } from '../src/init/report.js';
import { terminalAsker } from '../src/init/terminal-asker.js';
import { variablesOf } from '../src/init/variables.js';

function table(name: string, columns: Record<string, string>): TableFacts {
  return {
    ...{ schema: 'public', name, primaryKey: ['id'], rows: 12, writes: null, obstacle: null },
    columns: Object.entries(columns).map(([name, type]) => ({ name, type, nullable: false })),
  };
}

const RAILS = table('outbox_events', {
  ...{ id: 'bigint', aggregate_type: 'text', aggregate_id: 'bigint', event_type: 'text', payload: 'jsonb' },
});
const QUEUE = table('outbox_mails', {
  id: 'bigint',
  name: 'text',
  body: 'text',
  order_id: 'bigint',
  user_id: 'bigint',
});

const SURVEY: Survey = {
  ...{ flavour: 'postgres', version: '18.4', schema: 'public', database: 'shop', user: 'postgres' },
  ...{ tableCount: 2, tables: [RAILS, QUEUE], notes: [] },
};

const OPTIONS: InitOptions = {
  ...{ deadLetters: true, start: 'now', role: 'strandline', out: 'strandline.config.ts' },
};

/** Answers in turn: the label of a choice, or a text; writes down what it was asked. */
class ScriptedAsker implements Asker {
  readonly asked: string[] = [];
  readonly #answers: string[];

  constructor(...answers: string[]) {
    this.#answers = answers;
  }

  text(question: string, { initial, check }: TextOptions = {}): Promise<string> {
    const answer = this.#next(question);
    const text = answer === '' ? (initial ?? '') : answer;
    expect(check?.(text) ?? null, `${question} ${text}`).toBeNull();
    return Promise.resolve(text);
  }

  choose<T>(question: string, answers: readonly Answer<T>[]): Promise<T> {
    const label = this.#next(question);
    const answer = label === '' ? answers[0] : answers.find((one) => one.label === label);
    if (answer === undefined)
      throw new Error(
        `${question} has no answer ${label}, but ${answers.map((one) => one.label).join(', ')}`,
      );
    return Promise.resolve(answer.value);
  }

  confirm(question: string): Promise<boolean> {
    return Promise.resolve(this.#next(question) === 'yes');
  }

  #next(question: string): string {
    this.asked.push(question);
    const answer = this.#answers.shift();
    if (answer === undefined) throw new Error(`nothing to answer to: ${question}`);
    return answer;
  }
}

describe('the conversation', () => {
  test('proposes what it would take: five answers by Enter', async () => {
    const asker = new ScriptedAsker('', '', '', '', '');
    const { choice, offsets, webhook } = await decide(SURVEY, OPTIONS, asker);
    expect(choice).toEqual({
      ...{ name: 'shop-outbox-events', create: false, start: 'now', role: 'strandline', deadLetters: true },
      table: { schema: 'public', name: 'outbox_events' },
      mapping: { id: 'id', key: ['aggregate_id'], type: 'event_type', payload: 'payload', headers: null },
    });
    expect([offsets, webhook]).toEqual([{ directory: './offsets' }, null]);
    expect(asker.asked).toEqual([
      'Which table is the outbox?',
      'What must stay in order? Events with the same …',
      'Where does it save how far it is?',
      'What happens with an event?',
      'A name for the pipeline',
    ]);
  });

  test('takes another table, another key, Redis and a URL', async () => {
    const asker = new ScriptedAsker(
      ...['another table', 'outbox_mails', 'something else', 'user_id, order_id'],
      ...['in Redis', '', 'it is sent to a URL', 'https://hook.example/in', 'mails'],
    );
    const decision = await decide(SURVEY, OPTIONS, asker);
    expect(decision).toMatchObject({
      offsets: { redis: 'redis://localhost:6379' },
      ...{ webhook: 'https://hook.example/in', textPayload: true },
      choice: {
        name: 'mails',
        mapping: { id: 'id', key: ['user_id', 'order_id'], type: 'name', payload: 'body' },
      },
    });
  });

  test('tells of a key that was taken which others there are', async () => {
    const asker = new ScriptedAsker('', 'aggregate_type + aggregate_id', '', '', '');
    const { choice, key } = await decide(SURVEY, OPTIONS, asker);
    expect(choice.mapping.key).toEqual(['aggregate_type', 'aggregate_id']);
    expect(key.alternatives.map(({ columns }) => columns)).toEqual([['aggregate_id']]);
  });

  test('asks nothing that a flag says', async () => {
    const flags = {
      table: 'outbox_mails',
      key: ['order_id'],
      redis: 'redis://r',
      webhook: 'https://h/',
      name: 'm',
    };
    const asker = new ScriptedAsker();
    expect(await decide(SURVEY, { ...OPTIONS, ...flags }, asker)).toMatchObject({
      choice: { name: 'm', mapping: { key: ['order_id'] } },
    });
    expect(await decide(SURVEY, { ...OPTIONS, ...flags }, null)).toMatchObject({
      offsets: { redis: 'redis://r' },
    });
  });
});

describe('without a terminal', () => {
  test.each([
    ['no table', { tables: [] }, {}, 'CLI_INIT_MISSING', '--table'],
    [
      'two tables',
      { tables: [RAILS, { ...RAILS, name: 'outbox_events_2' }] },
      {},
      'CLI_INIT_MISSING',
      '--table',
    ],
    ['no sure key', {}, { table: 'outbox_mails' }, 'CLI_INIT_MISSING', 'It may be order_id, or user_id'],
    ['a table that is not there', {}, { table: 'Outbox_Events' }, 'SETUP_TABLE', 'public.outbox_events'],
    ['a column that is not there', {}, { key: ['aggregateId'] }, 'SETUP_COLUMN', 'aggregate_id'],
    ['a name with a capital', {}, { name: 'Shop' }, 'SETUP_CHOICE', '--name'],
    ['a role with a quote', {}, { role: "o'x" }, 'SETUP_CHOICE', '--role'],
    ['a start that Postgres has not', {}, { start: 'earliest' }, 'SETUP_CHOICE', '--start'],
  ] as const)('%s is an error that says what to name', async (_, survey, options, code, says) => {
    const error: unknown = await decide({ ...SURVEY, ...survey }, { ...OPTIONS, ...options }, null).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(says) as string });
  });
});

describe('the variables', () => {
  const place = placeOf('postgres://postgres:hunter2@db/shop');
  const of = async (options: Partial<InitOptions>, rest: Partial<Parameters<typeof variablesOf>[0]> = {}) =>
    variablesOf({
      place,
      decision: await decide(SURVEY, { ...OPTIONS, ...options }, null),
      ...{ user: 'postgres', roleIsThere: false, file: { name: '.env', text: '' } },
      ...rest,
    });

  test('of a new role have a new password, and the same one again when it is written already', async () => {
    const { known, shown, password } = await of({});
    expect(known).toEqual([
      { name: 'DATABASE_URL', value: `postgres://strandline:${password ?? ''}@db/shop` },
    ]);
    expect(shown).toEqual([{ name: 'DATABASE_URL', value: 'postgres://strandline:<password>@db/shop' }]);
    const again = await of({}, { file: { name: '.env', text: `DATABASE_URL=${known[0]?.value ?? ''}\n` } });
    expect(again.password).toBe(password);
  });

  test('of a role that is there, or without a file, have none', async () => {
    expect(await of({}, { roleIsThere: true })).toMatchObject({ known: [], password: null });
    expect(await of({}, { file: null })).toMatchObject({ known: [], password: null });
  });

  test('of the same user are those that were given', async () => {
    expect((await of({ role: 'postgres' })).known).toEqual([{ name: 'DATABASE_URL', value: place.url }]);
  });

  test('of somebody else are not replaced', async () => {
    const file = { name: '.env', text: 'DATABASE_URL=postgres://app:pw@db/shop\n' };
    await expect(of({}, { file })).rejects.toMatchObject({ code: 'CLI_INIT_FILE' });
  });

  test('of Redis and a webhook are shown without what is secret', async () => {
    const { known, shown } = await of({ redis: 'redis://:hunter2@r', webhook: 'https://h.example/hunter2' });
    expect(known.map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'REDIS_URL',
      'WEBHOOK_URL',
      'WEBHOOK_SECRET',
    ]);
    expect(known[3]?.value).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });
});

test('the next commands name the config, the env file and what is to be set', () => {
  expect(nextCommands('conf/a.ts', '.env', [{ name: 'X', value: '<password>' }])).toEqual([
    `export X='<password>'`,
    'npx strandline doctor --config conf/a.ts --dotenv .env',
    'npx strandline run --config conf/a.ts --dotenv .env',
  ]);
});

describe('on a terminal', () => {
  /** A terminal whose keys are pressed when a question is there. */
  function terminal(...keys: readonly (readonly [question: string, key: string])[]) {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
    const left = [...keys];
    let shown = '';
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 30 });
    stderr.on('data', (text: Buffer) => {
      shown += text.toString();
      const [next] = left;
      if (next === undefined || !shown.includes(next[0])) return;
      left.shift();
      shown = '';
      setImmediate(() => stdin.write(next[1]));
    });
    const asker = terminalAsker({
      stdin: stdin,
      stdout: { isTTY: true, write: () => true },
      stderr,
    });
    if (asker === null) throw new Error('it is a terminal');
    return asker;
  }

  test('keys choose, Enter takes what is proposed', async () => {
    const answers = ['a', 'b', 'c'].map((value) => ({ value, label: `the ${value}`, hint: 'x' }));
    expect(await terminal(['Which?', '\r']).choose('Which?', answers)).toBe('a');
    expect(await terminal(['Which?', '\u001b[B'], ['the b', '\r']).choose('Which?', answers)).toBe('b');
    expect(await terminal(['Name?', '\r']).text('Name?', { initial: 'shop' })).toBe('shop');
    expect(await terminal(['Now?', 'y']).confirm('Now?')).toBe(true);
  });

  test('Ctrl-C is no answer', async () => {
    await expect(terminal(['Name?', '\u0003']).text('Name?')).rejects.toMatchObject({
      code: 'CLI_CANCELLED',
    });
  });

  test('nobody is asked where stdin or stdout are something else', () => {
    const none = {
      stdin: new PassThrough(),
      stdout: { isTTY: true, write: () => true },
      stderr: { write: () => true },
    };
    expect(terminalAsker(none)).toBeNull();
    const piped = Object.assign(new PassThrough(), { isTTY: true });
    expect(terminalAsker({ ...none, stdin: piped, stdout: { write: () => true } })).toBeNull();
  });
});
