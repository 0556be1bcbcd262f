import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parsePostgresOptions, type PostgresOptions, type RetentionOptions } from '../src/config.js';
import { PostgresSourceError } from '../src/errors.js';
import { postgres } from '../src/postgres.js';
import { matching } from './matchers.js';

const PASSWORD = 'hunter2-s3cret';
const URL_TEXT = `postgres://shop:${PASSWORD}@db.example:5433/shopdb`;
const OUTBOX = { table: 'outbox', id: 'id', key: 'order_id' };

const good: PostgresOptions = { url: URL_TEXT, outbox: OUTBOX };

/** The good options with one of them changed; `outbox.x` and `reconnect.x` reach inside. */
function changed(path: string, value: unknown): PostgresOptions {
  const options: Record<string, unknown> = structuredClone({ ...good });
  const parts = path.split('.');
  const last = parts.pop() ?? '';
  let target = options;
  for (const part of parts) target = (target[part] ??= {}) as Record<string, unknown>;
  target[last] = value;
  return options;
}

function refusal(options: unknown): PostgresSourceError {
  try {
    parsePostgresOptions(options as PostgresOptions);
  } catch (error) {
    if (error instanceof PostgresSourceError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('defaults', () => {
  it('are filled in, and the result is frozen', () => {
    const config = parsePostgresOptions(good);
    expect(config).toMatchObject({
      connection: { host: 'db.example', port: 5433, user: 'shop', password: PASSWORD, database: 'shopdb' },
      outbox: { table: 'outbox', id: 'id', key: 'order_id', columns: [] },
      messages: null,
      start: 'now',
      slot: null,
      publication: null,
      create: true,
      retention: null,
      visibility: 'committed',
      nullKey: 'reject',
      standby: 'wait',
      connectTimeout: 10_000,
      silenceTimeout: 30_000,
      reconnect: { initialDelay: 100, maxDelay: 10_000 },
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('of a tableless outbox: the fields of a message', () => {
    expect(parsePostgresOptions({ url: URL_TEXT, messages: { prefix: 'shop' } })).toMatchObject({
      outbox: null,
      messages: {
        prefix: 'shop',
        id: 'id',
        key: 'key',
        type: 'type',
        payload: 'payload',
        headers: 'headers',
      },
    });
  });

  it('of presets may be overridden column by column', () => {
    expect(parsePostgresOptions({ url: URL_TEXT, outbox: { preset: 'debezium' } }).outbox).toEqual({
      table: 'outboxevent',
      id: 'id',
      key: 'aggregateid',
      type: 'type',
      payload: 'payload',
      headers: undefined,
      columns: [],
      snapshotOrder: undefined,
    });
    const own = { preset: 'strandline', table: 'shop.events', key: ['tenant', 'key'] } as const;
    expect(parsePostgresOptions({ url: URL_TEXT, outbox: own }).outbox).toMatchObject({
      table: 'shop.events',
      id: 'id',
      key: ['tenant', 'key'],
      headers: 'headers',
    });
  });

  it('a connection object is handed to pg as it is', () => {
    const connection = { host: 'h', ssl: { rejectUnauthorized: true }, password: () => PASSWORD };
    expect(parsePostgresOptions({ connection, outbox: OUTBOX }).connection).toEqual(connection);
  });

  it('the connection string of a connection object is taken apart: the client would let its settings win', () => {
    const connection = { connectionString: `${URL_TEXT}?options=-c%20datestyle%3DGerman`, ssl: false };
    const config = parsePostgresOptions({ connection, outbox: OUTBOX });
    expect(config.connection).toMatchObject({
      host: 'db.example',
      options: '-c datestyle=German',
      ssl: false,
    });
    expect(config.connection).not.toHaveProperty('connectionString');
  });

  it('of retention: the one that is not given sets no limit', () => {
    const retentionOf = (retention: RetentionOptions): unknown =>
      parsePostgresOptions({ ...good, retention }).retention;
    expect(retentionOf({ age: 60_000 })).toEqual({ age: 60_000, bytes: null });
    expect(retentionOf({ bytes: 1_024 })).toEqual({ age: null, bytes: 1_024 });
  });

  it('a function as key stays that function', () => {
    const key = (): string => 'k';
    expect(parsePostgresOptions({ url: URL_TEXT, outbox: { ...OUTBOX, key } }).outbox?.key).toBe(key);
  });
});

describe('a wrong field gives one message with the field, its value and the rule', () => {
  it.each<[field: string, value: unknown, shown: string, rule: RegExp]>([
    ['connection', 'h', 'a value that is not shown', /./],
    ['outbox', 7, '7', /object/],
    ['outbox.table', undefined, 'missing', /must name the outbox table/],
    ['outbox.table', '', '""', /must be a table name, or schema\.table/],
    ['outbox.table', 'a.b.c', '"a.b.c"', /must be a table name, or schema\.table/],
    ['outbox.table', 'x'.repeat(64), `"${'x'.repeat(64)}"`, /must be a table name/],
    ['outbox.id', undefined, 'missing', /string/],
    ['outbox.id', '', '""', /must be the name of a column/],
    ['outbox.id', 'x'.repeat(64), `"${'x'.repeat(64)}"`, /at most 63/],
    [
      'outbox.key',
      undefined,
      'missing',
      /must be a column, a list of up to 32 columns, or a function of the row/,
    ],
    ['outbox.key', [], 'a list', />=1|at least|too small/i],
    ['outbox.key', Array.from({ length: 33 }, () => 'k'), 'a list', /a list of up to 32 columns/],
    ['outbox.key', 7, '7', /must be a column, a list of up to 32 columns/],
    ['outbox.type', 7, '7', /string/],
    ['outbox.payload', '', '""', /must be the name of a column/],
    ['outbox.headers', true, 'true', /string/],
    ['outbox.columns', 'a', '"a"', /array/],
    ['outbox.snapshotOrder', [], 'a list', />=1|at least|too small/i],
    ['messages', 'x', '"x"', /object/],
    ['messages.prefix', undefined, 'missing', /string/],
    ['messages.prefix', '', '""', />=1|at least|too small/i],
    ['start', 'beginning', '"beginning"', /now.*snapshot/],
    ['slot', 'My-Slot', '"My-Slot"', /must be 1 to 63 of a-z, 0-9 and _/],
    ['slot', 'x'.repeat(64), `"${'x'.repeat(64)}"`, /must be 1 to 63/],
    ['publication', '', '""', />=1|at least|too small/i],
    ['publication', 'x'.repeat(64), `"${'x'.repeat(64)}"`, /63/],
    ['create', 'yes', '"yes"', /boolean/],
    ['retention', {}, 'an object', /must say how many bytes, or what age in milliseconds/],
    ['retention', '1d', '"1d"', /object/],
    ['retention.bytes', 0, '0', />0|positive|too small/i],
    ['retention.age', 1.5, '1.5', /int/],
    ['visibility', 'seen', '"seen"', /committed.*logged/],
    ['nullKey', 'drop', '"drop"', /reject.*unordered/],
    ['standby', false, 'false', /wait.*fail/],
    ['connectTimeout', 0, '0', />0|positive|too small/i],
    ['connectTimeout', 1.5, '1.5', /int/],
    ['connectTimeout', NaN, 'NaN', /number/],
    ['connectTimeout', Infinity, 'Infinity', /number|int/],
    ['connectTimeout', 2 ** 31, '2147483648', /2147483647/],
    ['silenceTimeout', 999, '999', /1000/],
    ['reconnect', 5, '5', /object/],
    ['reconnect.initialDelay', -1, '-1', />0|positive|too small/i],
    ['reconnect.maxDelay', '1s', '"1s"', /number/],
  ])('%s = %j', (field, value, shown, rule) => {
    const error = refusal(changed(field, value));
    expect(error.code).toBe('PG_CONFIG');
    expect(error.message).toContain(`postgres.${field} is ${shown}: `);
    expect(error.message).toMatch(rule);
    expect(error.remedy).toBe('Correct the options of postgres({ … }).');
    // One sentence: the other fields are not blamed.
    expect(error.message.match(/postgres\.[a-zA-Z.]+ is /g)).toHaveLength(1);
  });

  it.each([
    ['a field that does not exist', { ...good, sloot: 'x' }, /sloot/],
    ['a field of the outbox that does not exist', { ...good, outbox: { ...OUTBOX, keys: 'x' } }, /keys/],
    [
      'no url and no connection',
      { outbox: OUTBOX },
      /postgres\.url is missing: give either url or connection/,
    ],
    ['both', { ...good, connection: {} }, /postgres\.url is a value that is not shown: give either/],
    [
      'neither table nor messages',
      { url: URL_TEXT },
      /postgres\.outbox is .*name the outbox table, or messages/,
    ],
    [
      'a preset that does not exist',
      { url: URL_TEXT, outbox: { preset: 'camel' } },
      /preset is "camel".*debezium, strandline/,
    ],
    [
      'the name of an object’s method as preset',
      { url: URL_TEXT, outbox: { preset: 'toString' } },
      /preset is "toString"/,
    ],
    ['a preset that is no text', { url: URL_TEXT, outbox: { preset: 7 } }, /preset is 7/],
    ['no object at all', 'postgres://x', /object/],
    ['nothing', undefined, /object/],
    ['null', null, /object/],
  ])('%s', (_, options, message) => {
    expect(refusal(options)).toMatchObject({ code: 'PG_CONFIG', message: matching(message) });
  });

  it('several wrong fields give a sentence each', () => {
    const { message } = refusal({ ...good, start: 'x', slot: 'A', connectTimeout: 0 });
    for (const field of ['start', 'slot', 'connectTimeout'])
      expect(message).toContain(`postgres.${field} is `);
  });

  it('a value that is long is cut', () => {
    expect(refusal(changed('slot', 'A'.repeat(10_000))).message.length).toBeLessThan(400);
  });

  it('postgres() itself refuses', () => {
    expect(() => postgres({ ...good, slot: 'A' })).toThrow(expect.objectContaining({ code: 'PG_CONFIG' }));
  });
});

describe('secrets', () => {
  it.each<[string, unknown]>([
    ['a wrong url', { url: `mysql://shop:${PASSWORD}@h/db`, outbox: OUTBOX }],
    ['an url that is not text', { url: { password: PASSWORD }, outbox: OUTBOX }],
    [
      'an url that can not be parsed',
      { url: `postgres://shop:${PASSWORD}%zz@h:99999999/db`, outbox: OUTBOX },
    ],
    ['a wrong port', { url: `postgres://shop:${PASSWORD}@h:port/db`, outbox: OUTBOX }],
    ['an url and a connection', { url: URL_TEXT, connection: { password: PASSWORD }, outbox: OUTBOX }],
    ['a connection string as connection', { connection: URL_TEXT, outbox: OUTBOX }],
    ['a wrong field beside the url', { ...good, slot: 'A' }],
    ['a wrong field of the outbox', { ...good, outbox: { ...OUTBOX, id: '' } }],
    ['an unknown field', { ...good, password: PASSWORD }],
  ])('%s: neither message nor cause nor anything else holds the url or the password', (_, options) => {
    const error = refusal(options);
    for (const text of [error.message, error.remedy, inspect(error, { depth: 10, showHidden: true })]) {
      expect(text).not.toContain(PASSWORD);
      expect(text).not.toMatch(/(postgres|mysql):\/\/shop/);
    }
  });
});
