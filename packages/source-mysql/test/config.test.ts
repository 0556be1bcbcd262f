import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseMysqlOptions, type MysqlOptions } from '../src/config.js';
import { MysqlSourceError } from '../src/errors.js';
import { mysql } from '../src/mysql.js';
import { matching } from './matchers.js';

const PASSWORD = 'hunter2-s3cret';
const URL_TEXT = `mysql://shop:${PASSWORD}@db.example:3307/shopdb`;
const OUTBOX = { table: 'outbox', id: 'id', key: 'order_id' };

const good: MysqlOptions = { url: URL_TEXT, outbox: OUTBOX };

/** The good options with one of them changed; `outbox.x` and `reconnect.x` reach inside. */
function changed(path: string, value: unknown): MysqlOptions {
  const options: Record<string, unknown> = structuredClone({ ...good });
  const parts = path.split('.');
  const last = parts.pop() ?? '';
  let target = options;
  for (const part of parts) target = (target[part] ??= {}) as Record<string, unknown>;
  target[last] = value;
  return options as unknown as MysqlOptions;
}

function refusal(options: unknown): MysqlSourceError {
  try {
    parseMysqlOptions(options as MysqlOptions);
  } catch (error) {
    if (error instanceof MysqlSourceError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('defaults', () => {
  it('are filled in, and the result is frozen', () => {
    const config = parseMysqlOptions(good);
    expect(config).toMatchObject({
      connection: { host: 'db.example', port: 3307, user: 'shop', password: PASSWORD, database: 'shopdb' },
      outbox: { table: 'outbox', id: 'id', key: 'order_id', columns: [] },
      start: null,
      serverId: null,
      metadata: 'full',
      undecidedXa: 'refuse',
      visibility: 'committed',
      nullKey: 'reject',
      standby: 'wait',
      connectTimeout: 10_000,
      silenceTimeout: 30_000,
      reconnect: { initialDelay: 100, maxDelay: 10_000 },
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('of presets may be overridden column by column', () => {
    const own = { preset: 'strandline', table: 'shop.events', key: ['tenant', 'key'] } as const;
    expect(parseMysqlOptions({ url: URL_TEXT, outbox: own }).outbox).toMatchObject({
      table: 'shop.events',
      id: 'id',
      key: ['tenant', 'key'],
      headers: 'headers',
    });
    expect(parseMysqlOptions({ url: URL_TEXT, outbox: { preset: 'debezium' } }).outbox).toMatchObject({
      table: 'outboxevent',
      key: 'aggregateid',
    });
  });

  it('a connection object is handed to mysql2 as it is', () => {
    const connection = { host: 'h', ssl: { rejectUnauthorized: true } };
    expect(parseMysqlOptions({ connection, outbox: OUTBOX }).connection).toBe(connection);
  });

  it('a function as key stays that function', () => {
    const key = (): string => 'k';
    expect(parseMysqlOptions({ url: URL_TEXT, outbox: { ...OUTBOX, key } }).outbox.key).toBe(key);
  });
});

describe('a connection string', () => {
  it.each<[string, object]>([
    ['mysql://h/db', { host: 'h', port: 3306, database: 'db' }],
    ['mysql://u%40x:p%2Fw@h/my%20db', { user: 'u@x', password: 'p/w', database: 'my db' }],
    ['mysql://u@[::1]:3310/db', { host: '::1', port: 3310 }],
    ['mysql://u@h/db?ssl=true', { ssl: { rejectUnauthorized: true } }],
    ['mysql://u@h/db?ssl=insecure', { ssl: { rejectUnauthorized: false } }],
  ])('%s', (url, connection) => {
    expect(parseMysqlOptions({ url, outbox: OUTBOX }).connection).toMatchObject(connection);
  });

  it('without a database names none, and ssl=false asks for none', () => {
    const { connection } = parseMysqlOptions({ url: 'mysql://u@h?ssl=false', outbox: OUTBOX });
    expect(connection).not.toHaveProperty('database');
    expect(connection).not.toHaveProperty('ssl');
  });
});

describe('a wrong field gives one message with the field, its value and the rule', () => {
  it.each<[field: string, value: unknown, shown: string, rule: RegExp]>([
    ['connection', 'h', 'a value that is not shown', /./],
    ['outbox', 7, '7', /object/],
    ['outbox.table', undefined, 'missing', /must name the outbox table/],
    ['outbox.table', '', '""', /must be a table name, or database\.table/],
    ['outbox.table', 'a.b.c', '"a.b.c"', /must be a table name, or database\.table/],
    ['outbox.id', undefined, 'missing', /string/],
    ['outbox.id', '', '""', /must be the name of a column/],
    ['outbox.id', 'x'.repeat(65), `"${'x'.repeat(65)}"`, /at most 64/],
    [
      'outbox.key',
      undefined,
      'missing',
      /must be a column, a list of up to 16 columns, or a function of the row/,
    ],
    ['outbox.key', [], 'a list', />=1|at least|too small/i],
    ['outbox.key', 7, '7', /must be a column, a list of up to 16 columns/],
    ['outbox.type', 7, '7', /string/],
    ['outbox.payload', '', '""', /must be the name of a column/],
    ['outbox.payloadFormat', 'xml', '"xml"', /json.*text/],
    ['outbox.headers', true, 'true', /string/],
    ['outbox.columns', 'a', '"a"', /array/],
    ['outbox.snapshotOrder', [], 'a list', />=1|at least|too small/i],
    ['start', 'beginning', '"beginning"', /now.*earliest.*snapshot/],
    ['serverId', 0, '0', />=1|at least|too small/i],
    ['serverId', 2 ** 32, '4294967296', /4294967295/],
    ['serverId', 1.5, '1.5', /int/],
    ['metadata', 'none', '"none"', /full.*minimal/],
    ['visibility', 'seen', '"seen"', /committed.*logged/],
    ['nullKey', 'drop', '"drop"', /reject.*unordered/],
    ['standby', false, 'false', /wait.*fail/],
    ['connectTimeout', 0, '0', />0|positive|too small/i],
    ['connectTimeout', 2 ** 31, '2147483648', /2147483647/],
    ['silenceTimeout', 999, '999', /1000/],
    ['reconnect', 5, '5', /object/],
    ['reconnect.initialDelay', -1, '-1', />0|positive|too small/i],
    ['reconnect.maxDelay', '1s', '"1s"', /number/],
  ])('%s = %j', (field, value, shown, rule) => {
    const error = refusal(changed(field, value));
    expect(error.code).toBe('MYSQL_CONFIG');
    expect(error.message).toContain(`mysql.${field} is ${shown}: `);
    expect(error.message).toMatch(rule);
    expect(error.remedy).toBe('Correct the options of mysql({ … }).');
    // One sentence: the other fields are not blamed.
    expect(error.message.match(/mysql\.[a-zA-Z.]+ is /g)).toHaveLength(1);
  });

  it.each([
    ['a field that does not exist', { ...good, slot: 'x' }, /slot/],
    ['a field of the outbox that does not exist', { ...good, outbox: { ...OUTBOX, keys: 'x' } }, /keys/],
    ['no url and no connection', { outbox: OUTBOX }, /mysql\.url is missing: give either url or connection/],
    ['both', { ...good, connection: {} }, /mysql\.url is a value that is not shown: give either/],
    ['a preset that does not exist', { url: URL_TEXT, outbox: { preset: 'camel' } }, /preset is "camel"/],
    [
      'the name of an object’s method as preset',
      { url: URL_TEXT, outbox: { preset: 'toString' } },
      /"toString"/,
    ],
    ['no object at all', 'mysql://x', /object/],
    ['nothing', undefined, /object/],
    ['null', null, /object/],
  ])('%s', (_, options, message) => {
    expect(refusal(options)).toMatchObject({ code: 'MYSQL_CONFIG', message: matching(message) });
  });

  it('mysql() itself refuses', () => {
    expect(() => mysql({ ...good, serverId: 0 })).toThrow(expect.objectContaining({ code: 'MYSQL_CONFIG' }));
  });
});

describe('secrets', () => {
  it.each<[string, unknown]>([
    ['a wrong scheme', { url: `postgres://shop:${PASSWORD}@h/db`, outbox: OUTBOX }],
    ['a url that can not be read', { url: `mysql://shop:${PASSWORD}@h:port/db`, outbox: OUTBOX }],
    ['a wrong escape in the password', { url: `mysql://shop:%zz${PASSWORD}@h/db`, outbox: OUTBOX }],
    ['url and connection', { ...good, connection: { password: PASSWORD } }],
    ['a connection that is no object', { connection: URL_TEXT, outbox: OUTBOX }],
    ['a wrong field beside', { ...good, start: 'x' }],
  ])('%s', (_, options) => {
    const error = refusal(options);
    expect(error.code).toBe('MYSQL_CONFIG');
    expect(inspect(error, { depth: 10 })).not.toContain(PASSWORD);
  });
});
