import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../src/byte-reader.js';
import { MessageMapper } from '../src/message-mapper.js';
import { RowMapper } from '../src/row-mapper.js';
import { OID, tuple } from './messages.js';
import { outboxTable } from './outbox.js';

const CONTEXT = { xid: 7, commitMicros: 0n };
const FIELDS = { prefix: 'shop', id: 'id', key: 'key', type: 'type', payload: 'payload', headers: 'headers' };

/** The key of a row with these cells in its key columns, whatever types the columns have. */
function keyOf(cells: readonly string[], typeOids: readonly number[] = [], single = false): string {
  const columns = cells.map((_, index) => ({
    name: `k${String(index)}`,
    typeOid: typeOids[index] ?? OID.text,
  }));
  const names = columns.map(({ name }) => name);
  const table = outboxTable({ key: single ? 'k0' : names });
  const mapper = new RowMapper(table, 't', [{ name: 'id', typeOid: OID.int8 }, ...columns], 'reject');
  return mapper.fromTuple(new ByteReader(tuple(['1', ...cells])), CONTEXT, 1n, 1).key;
}

function keyOfMessage(content: string): string {
  return new MessageMapper(FIELDS, 'reject').fromContent(content, '0/A0:1', CONTEXT, 1).key;
}

/** Texts that are easily taken for each other: parts of JSON, blanks, forms of one character, cases. */
const confusing = fc
  .string({
    unit: fc.constantFrom(
      '"',
      '\\',
      ',',
      '[',
      ']',
      '\0',
      ' ',
      'a',
      'A',
      '\u00e9',
      'e\u0301',
      '1',
      '01',
      '\ufeff',
      'null',
    ),
    maxLength: 4,
  })
  .map((text) => text.replaceAll('\0', ''));
const types = fc.constantFrom(...Object.values(OID), 23, 1_700, 2_950, 1_043);

describe('a key', () => {
  it('is the server’s text, the same for every type that a column can have', () => {
    fc.assert(
      fc.property(confusing, types, (text, type) => {
        expect(keyOf([text], [type], true)).toBe(text);
      }),
    );
  });

  it('of several columns is one for one list of texts, whatever the types, and no other list has it', () => {
    const several = fc.array(confusing, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(several, several, types, (a, b, type) => {
        const [one, other] = [keyOf(a), keyOf(b, [type, type, type])];
        expect(one === other).toBe(a.length === b.length && a.every((text, index) => text === b[index]));
        expect(JSON.parse(one)).toEqual(a);
      }),
      { numRuns: 2_000 },
    );
  });

  it('that a collation or a type holds to be equal, but whose texts differ, are two', () => {
    for (const [a, b] of [
      ['ada', 'Ada'],
      ['caf\u00e9', 'cafe\u0301'],
      ['1.0', '1.00'],
      ['a', 'a '],
    ] as const) {
      expect(keyOf([a], [], true)).not.toBe(keyOf([b], [], true));
      expect(keyOf([a, 'x'])).not.toBe(keyOf([b, 'x']));
    }
  });
});

describe('a key of a message', () => {
  it('is the text that the same value has as a key column', () => {
    const number = fc.bigInt().map(String);
    fc.assert(
      fc.property(fc.oneof(confusing, fc.string({ unit: 'binary' })), number, (text, digits) => {
        expect(keyOfMessage(JSON.stringify({ key: text }))).toBe(text);
        expect(keyOfMessage(`{"key":${digits}}`)).toBe(digits);
        expect(keyOfMessage(JSON.stringify({ key: digits }))).toBe(digits);
      }),
    );
  });

  it('is found whatever else is in the content, and so is the payload', () => {
    const odd = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'toJSON', 'isLosslessNumber', 'value'),
      fc.string(),
    );
    const inner = fc.dictionary(odd, fc.jsonValue(), { maxKeys: 4 }).filter((value) => !('toJSON' in value));
    fc.assert(
      fc.property(inner, inner, (payload, more) => {
        const content = JSON.stringify({ ...more, key: 'k', payload });
        const event = new MessageMapper(FIELDS, 'reject').fromContent(content, '0/A0:1', CONTEXT, 1);
        expect(event.key).toBe('k');
        expect(JSON.parse(event.payloadText ?? '')).toEqual(JSON.parse(JSON.stringify(payload)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('has all its digits, however deep the numbers of the payload lie', () => {
    const digits = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }).map(String);
    fc.assert(
      fc.property(fc.array(digits, { minLength: 1 }), (numbers) => {
        const payload = `{"a":[${numbers.join(',')}],"b":{"c":${numbers[0] ?? '0'}.50}}`;
        const mapper = new MessageMapper(FIELDS, 'reject');
        const event = mapper.fromContent(`{"key":1,"payload":${payload}}`, '0/A0:1', CONTEXT, 1);
        expect(event.payloadText).toBe(payload);
      }),
    );
  });
});

describe('columns of any name', () => {
  it('are all in the event', () => {
    const name = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', 'prototype'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    );
    const columns = fc
      .uniqueArray(name, { minLength: 1, maxLength: 5 })
      .map((all) => all.filter((each) => each !== 'id'));
    fc.assert(
      fc.property(columns, (names) => {
        const all = ['id', ...names].map((each) => ({ name: each, typeOid: OID.text }));
        const mapper = new RowMapper(outboxTable({ key: 'id', columns: names }), 't', all, 'reject');
        const values = names.map((each, index) => (index % 2 === 0 ? `of ${each}` : null));
        const event = mapper.fromTuple(new ByteReader(tuple(['1', ...values])), CONTEXT, 1n, 1);
        expect(Object.entries(event.columns).sort()).toEqual(
          names.map((each, index) => [each, values[index]]).sort(),
        );
      }),
    );
  });

  it('are all in the row that a key function sees', () => {
    const key = (row: Readonly<Record<string, string | null>>): string | null =>
      Object.hasOwn(row, '__proto__')
        ? (Object.entries(row).find(([name]) => name === '__proto__')?.[1] ?? null)
        : 'missing';
    const columns = ['id', '__proto__'].map((name) => ({ name, typeOid: OID.text }));
    const mapper = new RowMapper(outboxTable({ key }), 't', columns, 'reject');
    expect(mapper.fromTuple(new ByteReader(tuple(['1', 'k'])), CONTEXT, 1n, 1).key).toBe('k');
  });
});
