import { validate, version } from 'uuid';
import {
  emitEvent,
  insertEvent,
  insertEvents,
  type Executor,
  type InsertOptions,
  type NewEvent,
} from '@strandline/outbox';
import { describe, expect, test } from 'vitest';
import { recorded } from './recorded.js';

const event = { key: 'k', type: 't' };

async function params(given: Partial<NewEvent>, options: InsertOptions = {}): Promise<readonly unknown[]> {
  const executor = recorded();
  await insertEvent(executor, { ...event, ...given }, options);
  return executor.statements[0]?.params ?? [];
}

async function refused(given: unknown, options: unknown = {}): Promise<unknown> {
  const executor = recorded();
  const error: unknown = await insertEvent(executor, given as NewEvent, options as InsertOptions).then(
    () => expect.fail('it was written'),
    (reason: unknown) => reason,
  );
  expect(executor.statements).toEqual([]);
  return error;
}

describe('ids', () => {
  test('are UUIDv7, rising within the process, and given back in the order of the events', async () => {
    const executor = recorded();
    const ids = await insertEvents(
      executor,
      Array.from({ length: 5_000 }, () => event),
    );
    ids.push(await insertEvent(executor, event));
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(5_001);
    expect(executor.statements[0]?.params.filter((_, n) => n % 5 === 0)).toEqual(ids.slice(0, -1));
  });

  test('may be given: a UUID for the table of the preset, a text for others', async () => {
    const id = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11';
    expect((await params({ id }))[0]).toBe(id.toLowerCase());
    expect(await refused({ ...event, id: '7' })).toMatchObject({ code: 'OUTBOX_EVENT', key: 'k' });
    const own = { table: 't', columns: { id: 'id', key: 'k', type: 'type' } };
    expect(await insertEvent(recorded(), { ...event, id: '7' }, own)).toBe('7');
    for (const wrong of ['', 'a\0', 'x'.repeat(256), 7])
      expect(await refused({ ...event, id: wrong }, own)).toMatchObject({ code: 'OUTBOX_EVENT' });
  });

  test('are the server’s where the table makes them', async () => {
    const own = { table: 't', columns: { key: 'k', type: 'type' } };
    const executor = recorded();
    expect(await insertEvents(executor, [event, event], own)).toEqual([null, null]);
    expect(executor.statements).toEqual([
      { sql: 'insert into "t" ("k", "type") values ($1, $2), ($3, $4)', params: ['k', 't', 'k', 't'] },
    ]);
    expect(await refused({ ...event, id: '7' }, own)).toMatchObject({ code: 'OUTBOX_EVENT' });
  });
});

describe('keys', () => {
  test.each([
    ['a', 'a'],
    [7, '7'],
    [-7, '-7'],
    [9007199254740993n, '9007199254740993'],
    [['a', 1, 2n], '["a","1","2"]'],
    [['a'], '["a"]'],
    [[''], '[""]'],
    ['', ''],
  ])('%s is written as %s', async (key, text) => {
    expect((await params({ key }))[1]).toBe(text);
  });

  test.each([
    [2 ** 53],
    [1.5],
    [NaN],
    [null],
    [undefined],
    [true],
    [{}],
    [[]],
    [[['a']]],
    [['a', null]],
    ['a\0'],
    ['\ud800'],
    ['x'.repeat(256)],
    [['x'.repeat(255)]],
  ])('%s is refused', async (key) => {
    expect(await refused({ ...event, key })).toMatchObject({ code: 'OUTBOX_KEY' });
  });

  test('have a limit in characters, as the column has', async () => {
    expect((await params({ key: '🐚'.repeat(255) }))[1]).toHaveLength(510);
    expect(await refused({ ...event, key: 'abc' }, { limits: { key: 2 } })).toMatchObject({
      code: 'OUTBOX_KEY',
    });
    expect((await params({ key: 'x'.repeat(300) }, { limits: { key: 300 } }))[1]).toHaveLength(300);
  });

  test('of several columns need a part for each', async () => {
    const own = { columns: { key: ['tenant', 'order'] } };
    const executor = recorded('mysql');
    await insertEvent(executor, { key: ['a', 1n] }, own);
    expect(executor.statements[0]).toEqual({
      sql: 'insert into `strandline_outbox` (`tenant`, `order`) values (?, ?)',
      params: ['a', '1'],
    });
    for (const key of ['a', ['a'], ['a', 'b', 'c']])
      expect(await refused({ key }, own)).toMatchObject({ code: 'OUTBOX_KEY' });
  });
});

describe('types, headers and columns', () => {
  test.each([
    ['no type', {}],
    ['an empty type', { type: '' }],
    ['a type that is too long', { type: 'x'.repeat(256) }],
    ['a type that is no text', { type: 7 }],
    ['headers that are a list', { type: 't', headers: [] }],
    ['headers with what has no JSON', { type: 't', headers: { a: undefined } }],
    ['headers that are too large', { type: 't', headers: { a: 'x'.repeat(65_536) } }],
    ['a column that is written already', { type: 't', columns: { key: 'x' } }],
    ['a column without a name', { type: 't', columns: { '': 'x' } }],
    ['a column that a library takes for a value', { type: 't', columns: { 'a?': 'x' } }],
    ['a column that is an object', { type: 't', columns: { a: {} } }],
    ['a column that is NaN', { type: 't', columns: { a: NaN } }],
  ])('%s is refused', async (_, given) => {
    expect(await refused({ key: 'k', ...given })).toMatchObject({ code: 'OUTBOX_EVENT', key: 'k' });
  });

  test('what has no column would be lost, and is refused', async () => {
    const own = { columns: { key: 'k' } };
    for (const given of [{ type: 't' }, { payload: 1 }, { headers: {} }, { id: 'x' }])
      expect(await refused({ key: 'k', ...given }, own)).toMatchObject({ code: 'OUTBOX_EVENT' });
  });

  test('columns go as texts that the server makes its own of', async () => {
    const columns = { a: 1.5, b: 2n ** 63n, c: null, d: true, e: '' };
    expect((await params({ columns })).slice(5)).toEqual(['1.5', '9223372036854775808', null, 'true', '']);
    const executor = recorded('mariadb');
    await insertEvent(executor, { ...event, columns: { d: true, e: false } });
    expect(executor.statements[0]?.params.slice(5)).toEqual(['1', '0']);
  });

  test('are the same for all events of a call', async () => {
    const executor = recorded();
    const differing = insertEvents(executor, [{ ...event, columns: { a: 1 } }, event]);
    await expect(differing).rejects.toMatchObject({ code: 'OUTBOX_EVENT' });
    expect(executor.statements).toEqual([]);
  });
});

describe('statements', () => {
  test('one wrong event among others: none is sent', async () => {
    const executor = recorded();
    const wrong = insertEvents(executor, [event, { ...event, key: 1.5 }]);
    await expect(wrong).rejects.toMatchObject({ code: 'OUTBOX_KEY' });
    expect(executor.statements).toEqual([]);
  });

  test('no events: nothing is sent', async () => {
    const executor = recorded();
    expect(await insertEvents(executor, [])).toEqual([]);
    expect(executor.statements).toEqual([]);
  });

  test('are within the servers’ limits, each sent when the one before it is done', async () => {
    const counts: number[] = [];
    let underWay = 0;
    const executor: Executor = {
      dialect: 'postgres',
      async run(_, { length }) {
        expect((underWay += 1)).toBe(1);
        await Promise.resolve();
        underWay -= 1;
        counts.push(length / 5);
      },
    };
    await insertEvents(
      executor,
      Array.from({ length: 13_107 }, () => event),
    );
    expect(counts).toEqual([6_553, 6_553, 1]);
    counts.length = 0;
    const large = { ...event, payload: 'x'.repeat(600_000) };
    await insertEvents(executor, [event, large, event, large, event, large, large]);
    expect(counts).toEqual([3, 2, 1, 1]);
  });

  test('names are quoted, whatever is in them', async () => {
    const own = { table: 'a"; drop.b`"', columns: { key: '"; --' } };
    const postgres = recorded();
    await insertEvent(postgres, { key: 'k' }, own);
    expect(postgres.statements[0]?.sql).toBe('insert into "a""; drop"."b`""" ("""; --") values ($1)');
    const mysql = recorded('mysql');
    await insertEvent(mysql, { key: 'k' }, own);
    expect(mysql.statements[0]?.sql).toBe('insert into `a"; drop`.`b``"` (`"; --`) values (?)');
  });

  test('an error of the library is thrown as it is', async () => {
    const failure = new Error('deadlock detected');
    const executor: Executor = { dialect: 'postgres', run: () => Promise.reject(failure) };
    await expect(insertEvent(executor, event)).rejects.toBe(failure);
  });
});

describe('wrong calls', () => {
  test.each([
    [{ table: 'a.b.c' }, 'options.table: must be the name of a table, or schema.table.'],
    [{ table: 'what?' }, 'options.table:'],
    [{ columns: { key: [] } }, 'options.columns.key'],
    [{ columns: {} }, 'options.columns.key'],
    [{ payloadFormat: 'xml' }, 'options.payloadFormat'],
    [{ limits: { payload: -1 } }, 'options.limits.payload'],
    [{ trace: 'x' }, 'options.trace: must be { traceparent, tracestate }, or false.'],
    [{ tabel: 'x' }, 'tabel'],
  ])('%j', async (options, problem) => {
    const error = await refused(event, options);
    expect(error).toMatchObject({ code: 'OUTBOX_CONFIG' });
    expect(String(error)).toContain(problem);
  });

  test('a client that is not wrapped, and an event that is none', async () => {
    const client = { query: () => Promise.resolve() };
    await expect(insertEvent(client as never, event)).rejects.toThrow('Wrap the client or the transaction');
    expect(await refused(null)).toMatchObject({ code: 'OUTBOX_EVENT' });
  });

  test('messages are for Postgres, with a prefix, and have no columns', async () => {
    const emit = (given: object, options: unknown, executor = recorded()): Promise<string> =>
      emitEvent(executor, { ...event, ...given }, options as never);
    await expect(emit({}, { prefix: 'shop' }, recorded('mysql'))).rejects.toMatchObject({
      code: 'OUTBOX_CONFIG',
    });
    await expect(emit({}, {})).rejects.toMatchObject({ code: 'OUTBOX_CONFIG' });
    await expect(emit({ columns: { a: 1 } }, { prefix: 'shop' })).rejects.toMatchObject({
      code: 'OUTBOX_EVENT',
    });
    const executor = recorded();
    const id = await emit({ payload: { a: [1] } }, { prefix: 'shop', trace: false }, executor);
    expect(executor.statements[0]?.params).toEqual([
      'shop',
      `{"id":"${id}","key":"k","type":"t","payload":{"a":[1]}}`,
    ]);
  });
});
