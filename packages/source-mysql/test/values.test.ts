import { describe, expect, it } from 'vitest';
import type { Charsets } from '../src/charsets.js';
import { jsonText } from '../src/json-binary.js';
import { doubleText, floatText } from '../src/number-text.js';
import { labelsOfType } from '../src/tuning.js';
import { codecOf, type Codec } from '../src/values.js';

const NO_TABLES = { decoder: () => null } as unknown as Charsets;

function codec(type: string, charset: string | null = null): Codec {
  return codecOf({ name: 'c', type, charset }, NO_TABLES);
}

describe('a value from the log and from a query is one text', () => {
  it.each<[type: string, logged: unknown, queried: string | Buffer, text: string]>([
    ['bigint unsigned', '18446744073709551615', '18446744073709551615', '18446744073709551615'],
    ['bigint', -1, '-1', '-1'],
    ['int(5) unsigned zerofill', 42, '00042', '42'],
    ['decimal(8,2) unsigned zerofill', '1.20', '000001.20', '1.20'],
    ['year', 1900, '0000', '0000'],
    ['float', Math.fround(1.1), '1.100000023841858', '1.1'],
    ['double', 1e22, '1e22', '1e22'],
    ['bit(9)', Buffer.from([1, 1]), Buffer.from([1, 1]), '0x0101'],
    ['varbinary(8)', Buffer.alloc(0), '', '0x'],
    ["enum('a')", '', '', ''],
    ['varchar(9)', '\uFEFFa', '\uFEFFa', '\uFEFFa'],
    ['time', '-00:00:64', '-00:01:00', '-00:01:00'],
    ['time', '-00:63:64', '-01:00:00', '-01:00:00'],
    ['time', '-99:63:64', '-100:00:00', '-100:00:00'],
    ['time(3)', '-00:00:64.000', '-00:01:00.000', '-00:01:00.000'],
    ['time', '-00:00:59', '-00:00:59', '-00:00:59'],
    ['timestamp', '1901-12-13 20:45:52', '2038-01-19 03:14:08', '2038-01-19 03:14:08'],
    ['timestamp(2)', '1969-12-31 23:59:59.25', '2106-02-07 06:28:15.25', '2106-02-07 06:28:15.25'],
    ['timestamp', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'],
    [
      'uuid',
      Buffer.from('00c04fd430c880b411d19dad6ba7b810', 'hex'),
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    ],
    ['uuid', Buffer.alloc(0), '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
    ['inet4', Buffer.from('c00002', 'hex'), '192.0.2.0', '192.0.2.0'],
    ['inet6', Buffer.alloc(0), '::', '::'],
    [
      'inet6',
      Buffer.from('0001fff60000fff2000a3f9ffffa8e07', 'hex'),
      '1:fff6::fff2:a:3f9f:fffa:8e07',
      '1:fff6::fff2:a:3f9f:fffa:8e07',
    ],
    ['inet6', Buffer.from('00010000000000020000000000000003', 'hex'), '1:0:0:2::3', '1:0:0:2::3'],
    ['inet6', Buffer.from('00000000000000000000ffffc0000201', 'hex'), '::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['inet6', Buffer.from('000000000000000000000000c0000201', 'hex'), '::192.0.2.1', '::192.0.2.1'],
  ])('%s %s', (type, logged, queried, text) => {
    const { fromLog, fromQuery } = codec(type);
    expect(fromLog(logged)).toBe(text);
    expect(fromQuery(Buffer.from(queried as string))).toBe(text);
  });

  it.each<[string, unknown]>([
    ['int', undefined],
    ["enum('a')", undefined],
    ['varchar(9)', Buffer.alloc(1)],
    ['blob', 'text'],
    ['double', '1'],
    ['datetime', new Date(0)],
    ['json', { a: 1 }],
  ])('what a %s never is, is refused', (type, value) => {
    expect(() => codec(type).fromLog(value)).toThrow(/it came as/);
  });

  it('a type that is not known is refused by its name', () => {
    expect(() => codec('hologram(3)')).toThrow(/hologram/);
  });

  it('a charset with a table is read from bytes, and asked for as bytes', () => {
    const tables = { decoder: () => (bytes: Buffer) => bytes.toString('latin1') } as unknown as Charsets;
    const { bytes, fromLog, fromQuery, select } = codecOf(
      { name: 'c', type: 'text', charset: 'latin1' },
      tables,
    );
    expect(bytes).toBe(true);
    expect([fromLog(Buffer.from([0xe9])), fromQuery(Buffer.from([0xe9])), select('c')]).toEqual([
      ...['é', 'é', 'cast(c as binary)'],
    ]);
  });
});

describe('numbers as the servers print them', () => {
  it.each<[number, string]>([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [-2.5, '-2.5'],
    [100, '100'],
    [1e14, '100000000000000'],
    [1e15, '1e15'],
    [1_234_567_890_123_456, '1.234567890123456e15'],
    [1_234_567_890_123_456.5, '1234567890123456.5'],
    [-3_447_753_459_056_493.5, '-3447753459056493.5'],
    [123_456_789_012_345_680, '1.2345678901234568e17'],
    [0.1, '0.1'],
    [1e-15, '0.000000000000001'],
    [1e-16, '1e-16'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e308'],
  ])('%d', (value, text) => {
    expect(doubleText(value)).toBe(text);
    expect(Object.is(Number(text), value)).toBe(true);
  });

  it('every float reads back, in the fewest digits', () => {
    const words = new Uint32Array(1);
    const floats = new Float32Array(words.buffer);
    for (let n = 0; n < 20_000; n += 1) {
      words[0] = Math.imul(n, 0x9e37_79b1);
      const value = floats[0] ?? 0;
      if (!Number.isFinite(value)) continue;
      expect(Math.fround(Number(floatText(value)))).toBe(value);
    }
    expect([1.1, 16_777_216, 3.4028235e38].map((value) => floatText(Math.fround(value)))).toEqual([
      ...['1.1', '16777216', '3.4028235e38'],
    ]);
  });
});

describe('binary JSON', () => {
  it.each<[string, string, string]>([
    ['no bytes', '', 'null'],
    ['a literal', '0401', 'true'],
    ['a number of 16 bits', '05ffff', '-1'],
    ['a number of 64 bits', '0affffffffffffffff', '18446744073709551615'],
    ['a double that is whole', '0b000000000000f03f', '1.0'],
    ['a text', '0c03e282ac', '"€"'],
    ['a decimal', '0ff60402018005', '0.5'],
    ['a decimal below zero', '0ff60402017ffa', '-0.5'],
    ['an empty object', '0000000400', '{}'],
    ['an empty array', '0200000400', '[]'],
  ])('%s', (_, hex, text) => {
    expect(jsonText(Buffer.from(hex, 'hex'))).toBe(text);
  });

  it.each(['63', '0409', '0c', '02ff000400', '0cffffffffff'])('0x%s is refused', (hex) => {
    expect(() => jsonText(Buffer.from(hex, 'hex'))).toThrow();
  });
});

it.each<[string, string[]]>([
  ["enum('a','b')", ['a', 'b']],
  ["enum('it''s','x,y','')", ["it's", 'x,y', '']],
  ["set('(',')')", ['(', ')']],
])('the labels of %s', (type, labels) => {
  expect(labelsOfType(type)).toEqual(labels);
});
