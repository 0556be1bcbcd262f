import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../src/byte-reader.js';
import type { OutboxTable } from '@strandline/source-kit';
import type { PostgresEvent } from '../src/event.js';
import type { RelationColumn } from '../src/pgoutput.js';
import { RowMapper } from '../src/row-mapper.js';
import { OID, tuple } from './messages.js';
import { outboxTable } from './outbox.js';
import { containing, matching } from './matchers.js';

type Row = Readonly<Record<string, string | null>>;

const TYPES: Readonly<Record<string, number>> = { json: OID.json, jsonb: OID.jsonb, bytea: OID.bytea };

/** Column types are told by the column's name: `json`, `jsonb` and `bytea` are such, the others are text. */
function columnsOf(row: Row): RelationColumn[] {
  return Object.keys(row).map((name) => ({ name, typeOid: TYPES[name] ?? OID.text }));
}

/** The event of one row, as it comes from the log and as it comes from the snapshot's query: they must agree. */
function map(
  row: Row,
  outbox: Partial<OutboxTable> = {},
  nullKey: 'reject' | 'unordered' = 'reject',
): PostgresEvent {
  const mapper = (): RowMapper =>
    new RowMapper(outboxTable(outbox), 'public.outbox', columnsOf(row), nullKey);
  const context = { xid: 7, commitMicros: 0n };
  const logged = mapper().fromTuple(new ByteReader(tuple(Object.values(row))), context, 0xa0n, 1);
  const queried = mapper().fromValues(Object.values(row), { position: '0/A0:1', context, ordinal: 1 });
  expect(queried.toJSON()).toEqual(logged.toJSON());
  return logged;
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the mapped columns', () => {
  it('become the event, the others are left out', () => {
    const event = map(
      { other: 'x', id: '1', key: 'k', kind: 'paid', body: 'text', meta: '{"a":1}', extra: 'e', more: null },
      { type: 'kind', payload: 'body', headers: 'meta', columns: ['extra', 'more'] },
    );
    expect([event.payloadFormat, event.headersText]).toEqual(['text', '{"a":1}']);
    expect(event.toJSON()).toEqual({
      id: '1',
      key: 'k',
      type: 'paid',
      payload: 'text',
      payloadText: 'text',
      headers: { a: 1 },
      columns: { extra: 'e', more: null },
      position: '0/A0:1',
      table: 'public.outbox',
      transaction: { id: '7', ordinal: 1, commitTime: '2000-01-01T00:00:00.000000Z' },
    });
  });

  it('that are not named have no value', () => {
    expect(map({ id: '1', key: 'k', type: 'x', payload: 'x', headers: '{"x":1}' }).toJSON()).toMatchObject({
      type: null,
      payload: null,
      payloadText: null,
      headers: {},
      columns: {},
    });
  });

  it('may hold NULL and the empty text, which differ', () => {
    const mapping = { type: 'type', payload: 'payload', headers: 'headers', columns: ['c'] };
    const nulls = { id: '1', key: 'k', type: null, payload: null, headers: null, c: null };
    expect(map(nulls, mapping).toJSON()).toMatchObject({
      type: null,
      payloadText: null,
      headers: {},
      columns: { c: null },
    });
    const empty = { id: '1', key: '', type: '', payload: '', headers: '{}', c: '' };
    expect(map(empty, mapping).toJSON()).toMatchObject({
      key: '',
      type: '',
      payloadText: '',
      headers: {},
      columns: { c: '' },
    });
  });

  it('that are not there are PG_COLUMN_MISSING: it names the column, the table and what there is', () => {
    const columns = columnsOf({ id: '', key: '', body: '' });
    for (const [outbox, name] of [
      [{ id: 'nr' }, 'nr'],
      [{ key: 'order_id' }, 'order_id'],
      [{ key: ['key', 'tenant'] }, 'tenant'],
      [{ type: 'Body' }, 'Body'],
      [{ payload: 'pay' }, 'pay'],
      [{ headers: 'h' }, 'h'],
      [{ columns: ['body', 'more'] }, 'more'],
    ] as const) {
      expect(() => new RowMapper(outboxTable(outbox), 'public.outbox', columns, 'reject')).toThrow(
        expect.objectContaining({
          code: 'PG_COLUMN_MISSING',
          message: matching(new RegExp(`public\\.outbox.*"${name}".*id, key, body`)),
        }),
      );
    }
  });
});

describe('values', () => {
  it('of any text are kept', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (key, payload) => {
        const text = (value: string): string => value.replaceAll('\0', '');
        const event = map({ id: '1', key: text(key), payload: text(payload) }, { payload: 'payload' });
        expect([event.key, event.payloadText]).toEqual([text(key), text(payload)]);
      }),
    );
  });

  it('a byte order mark is part of the value', () => {
    const event = map({ id: '\ufeff1', key: '\ufeffk', payload: '\ufeff' }, { payload: 'payload' });
    expect([event.id, event.key, event.payload]).toEqual(['\ufeff1', '\ufeffk', '\ufeff']);
  });

  it('JSON in a text column is parsed, and a json column is left as text, where the options say so', () => {
    const row = { id: '1', key: 'k', body: '{"n": 1}', json: '{"n": 1}' };
    expect(map(row, { payload: 'body' }).payload).toBe('{"n": 1}');
    expect(map(row, { payload: 'body', payloadFormat: 'json' }).payload).toEqual({ n: 1 });
    expect(map(row, { payload: 'json', payloadFormat: 'text' }).payload).toBe('{"n": 1}');
    expect(map(row, { payload: 'json', payloadFormat: 'text' }).payloadFormat).toBe('text');
    expect(map(row, { payload: 'body', payloadFormat: 'json' }).payloadFormat).toBe('json');
  });

  it('json and jsonb are parsed at the first access, and their text is as the server sent it', () => {
    for (const name of ['json', 'jsonb']) {
      const text = '{"n": 9007199254740993,\n "a":1.10}';
      const event = map({ id: '1', key: 'k', [name]: text }, { payload: name });
      expect([event.payloadText, event.payloadFormat]).toEqual([text, 'json']);
      expect(event.payload).toEqual({ n: 9007199254740992, a: 1.1 });
      expect(event.payload).toBe(event.payload);
    }
  });

  it('JSON null is a payload that is null, with a text', () => {
    const event = map({ id: '1', key: 'k', json: 'null' }, { payload: 'json' });
    expect([event.payload, event.payloadText]).toEqual([null, 'null']);
  });

  it('bytea is a Buffer', () => {
    const event = map({ id: '1', key: 'k', bytea: '\\x00ff80' }, { payload: 'bytea' });
    expect(event.payload).toEqual(Buffer.from([0, 255, 128]));
    expect(event.payloadFormat).toBe('bytes');
    expect(map({ id: '1', key: 'k', bytea: '\\x' }, { payload: 'bytea' }).payload).toEqual(Buffer.alloc(0));
  });

  it('headers that are no object are empty', () => {
    for (const headers of ['[1]', '"x"', 'null', '7']) {
      expect(map({ id: '1', key: 'k', headers }, { headers: 'headers' }).headers).toEqual({});
    }
  });

  it('weigh in the window by their bytes, not by their characters, and unmapped ones do not', () => {
    const bytesOf = (row: Row): number => {
      const mapper = new RowMapper(outboxTable({ payload: 'payload' }), 't', columnsOf(row), 'reject');
      return mapper.fromTuple(new ByteReader(tuple(Object.values(row))), { xid: 1, commitMicros: 0n }, 1n, 1)
        .bytes;
    };
    const base = bytesOf({ id: '1', key: 'k', payload: '', unmapped: '' });
    expect(bytesOf({ id: '1', key: 'k', payload: '', unmapped: 'x'.repeat(1_000) })).toBe(base);
    expect(bytesOf({ id: '1', key: 'k', payload: 'x'.repeat(1_000), unmapped: '' })).toBe(base + 1_000);
    expect(bytesOf({ id: '1', key: 'k', payload: '€'.repeat(1_000), unmapped: '' })).toBe(base + 3_000);
  });
});

describe('a key of several columns', () => {
  it.each([
    [{ a: '1', b: '2' }, '["1","2"]'],
    [{ a: '', b: '' }, '["",""]'],
    [{ a: '1","2', b: '3' }, '["1\\",\\"2","3"]'],
    [{ a: 'ü', b: '\ufeff' }, '["ü","\ufeff"]'],
  ])('of %o is %s', (cells, key) => {
    expect(map({ id: '1', ...cells }, { key: ['a', 'b'] }).key).toBe(key);
  });

  it('is another one for other columns: no two of them run together', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (a, b, c, d) => {
        const one = map({ id: '1', a, b }, { key: ['a', 'b'] }).key;
        const two = map({ id: '1', a: c, b: d }, { key: ['a', 'b'] }).key;
        expect(one === two).toBe(a === c && b === d);
      }),
    );
  });

  it('follows the order of the config, not of the table', () => {
    expect(map({ id: '1', a: '1', b: '2' }, { key: ['b', 'a'] }).key).toBe('["2","1"]');
  });

  it('of one column in a list is a list, too', () => {
    expect(map({ id: '1', a: '1' }, { key: ['a'] }).key).toBe('["1"]');
  });

  it('with one NULL is no key', () => {
    expect(() => map({ id: '1', a: '1', b: null }, { key: ['a', 'b'] })).toThrow(
      expect.objectContaining({ code: 'PG_NULL_KEY' }),
    );
  });
});

describe('a key function', () => {
  it('sees every column of the row by name, NULL as null', () => {
    let seen: unknown;
    const event = map(
      { id: '1', tenant: 't', note: null, bytea: '\\xff' },
      {
        key: (row) => {
          seen = row;
          return `${row['tenant'] ?? ''}/${row['id'] ?? ''}`;
        },
      },
    );
    expect(event.key).toBe('t/1');
    expect(seen).toEqual({ id: '1', tenant: 't', note: null, bytea: '\\xff' });
  });

  it('gets a row of its own each time', () => {
    const rows: unknown[] = [];
    const mapper = new RowMapper(
      outboxTable({ key: (row) => String(rows.push(row)) }),
      't',
      columnsOf({ id: '', v: '' }),
      'reject',
    );
    for (const v of ['a', 'b'])
      mapper.fromTuple(new ByteReader(tuple(['1', v])), { xid: 1, commitMicros: 0n }, 1n, 1);
    expect(rows).toEqual([
      { id: '1', v: 'a' },
      { id: '1', v: 'b' },
    ]);
  });

  it('that returns null means a row without a key', () => {
    expect(() => map({ id: '1' }, { key: () => null })).toThrow(
      expect.objectContaining({ code: 'PG_NULL_KEY' }),
    );
    expect(map({ id: '1' }, { key: () => null }, 'unordered').key).toBe('unordered:0/A0:1');
  });

  it.each([[undefined], [7], [{}], [Promise.resolve('k')]])('that returns %o is PG_ROW', (value) => {
    expect(() => map({ id: '1' }, { key: () => value as unknown as string })).toThrow(
      expect.objectContaining({ code: 'PG_ROW', message: containing(typeof value) }),
    );
  });

  it('that throws is PG_ROW, with its error as the cause', () => {
    const cause = new Error('of the user');
    const error = thrownBy(() =>
      map(
        { id: '1' },
        {
          key: () => {
            throw cause;
          },
        },
      ),
    );
    expect(error).toMatchObject({ code: 'PG_ROW', cause });
  });
});

describe('a row without a key', () => {
  it('is PG_NULL_KEY with its id, table and position, where keys are a must', () => {
    expect(thrownBy(() => map({ id: '77', key: null }))).toMatchObject({
      code: 'PG_NULL_KEY',
      position: '0/A0:1',
      message: matching(/77.*public\.outbox.*0\/A0:1/),
      remedy: containing("nullKey: 'unordered'"),
    });
  });

  it('gets a strand of its own where they are not: a key that no other row has', () => {
    expect(map({ id: '77', key: null }, {}, 'unordered').key).toBe('unordered:0/A0:1');
  });

  it('is not one whose key is the empty text', () => {
    expect(map({ id: '1', key: '' }).key).toBe('');
  });
});

describe('an event', () => {
  it('is written to JSON with everything that handlers read', () => {
    const event = map({ id: '1', key: 'k', json: '{"a":1}' }, { payload: 'json' });
    expect(JSON.parse(JSON.stringify(event))).toMatchObject({
      id: '1',
      payload: { a: 1 },
      payloadText: '{"a":1}',
      headers: {},
    });
  });

  it('does not change when the next row is read', () => {
    const mapper = new RowMapper(
      outboxTable({ payload: 'payload', columns: ['key'] }),
      't',
      columnsOf({ id: '', key: '', payload: '' }),
      'reject',
    );
    const read = (cells: (string | null)[]): PostgresEvent =>
      mapper.fromTuple(new ByteReader(tuple(cells)), { xid: 1, commitMicros: 0n }, 1n, 1);
    const first = read(['1', 'a', 'x']);
    read(['2', 'b', null]);
    expect(first.toJSON()).toMatchObject({ id: '1', key: 'a', payload: 'x', columns: { key: 'a' } });
  });
});
