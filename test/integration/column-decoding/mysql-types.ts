import type { MysqlServerKind } from '@strandline/test-kit';
import fc from 'fast-check';
import {
  anyDate,
  anyDouble,
  anyFloat,
  anyJson,
  anyText,
  clock,
  decimal,
  hexBytes,
  integer,
  integerEdges,
  oddTexts,
  two,
  type Column,
} from './columns.js';

/**
 * How the text of an event differs from what SELECT prints, as `source-mysql/src/values.ts` documents it:
 *
 * - `same`: not at all;
 * - `bytes`: `0x` and the bytes in hexadecimal digits;
 * - `float`, `double`: the shortest digits that read back, laid out as the server prints a double;
 * - `unpadded`: without the zeros in front that ZEROFILL prints.
 */
export type Print = 'same' | 'bytes' | 'float' | 'double' | 'unpadded';

/** Values are SQL expressions. */
export interface MysqlColumn extends Column<string> {
  readonly print: Print;
  readonly server?: MysqlServerKind;
}

const same = (type: string, edges: readonly string[], any: fc.Arbitrary<string>): MysqlColumn => ({
  ...{ type, edges, any },
  print: 'same',
});

/** A text of any characters, whatever the session's charset and mode. */
export function literal(text: string): string {
  return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`;
}

const quoted = (any: fc.Arbitrary<string>): fc.Arbitrary<string> => any.map((text) => `'${text}'`);

function whole(type: string, bits: number): MysqlColumn[] {
  return [
    same(type, integerEdges(bits), integer(bits)),
    same(`${type} unsigned`, integerEdges(bits, true), integer(bits, true)),
    {
      ...same(`${type} unsigned zerofill`, integerEdges(bits, true), integer(bits, true)),
      print: 'unpadded',
    },
  ];
}

/** A year of two digits, or none, is read as another one. */
const year = fc.integer({ min: 1901, max: 2155 }).map(String);

const NUMBERS: readonly MysqlColumn[] = [
  ...whole('tinyint', 8),
  ...whole('smallint', 16),
  ...whole('mediumint', 24),
  ...whole('int', 32),
  ...whole('bigint', 64),
  same('boolean', ['true', 'false'], fc.constantFrom('true', 'false')),
  same('year', ['1901', '2155', "'0000'"], year),
  same(
    'decimal(65,30)',
    [`${'9'.repeat(35)}.${'9'.repeat(30)}`, `-${'9'.repeat(35)}.${'9'.repeat(30)}`, '-0.0'],
    decimal(35, 30),
  ),
  same('decimal(65,0)', ['9'.repeat(65)], decimal(65, 0)),
  same('decimal(9,9)', ['0.000000001', '-0.999999999'], decimal(0, 9)),
  same('decimal(18,9)', ['-1'], decimal(9, 9)),
  same('decimal(19,10)', ['-1'], decimal(9, 10)),
  same('decimal(10,0)', ['-9999999999'], decimal(10, 0)),
  same('decimal(5,2) unsigned', ['0'], decimal(3, 2, true)),
  { ...same('decimal(8,2) unsigned zerofill', ['0', '1.20'], decimal(6, 2, true)), print: 'unpadded' },
  {
    ...same('float', ['0', '1.1', '3.4028235e38', '16777217', '1e-45', '-0.5', '123456.79'], anyFloat),
    print: 'float',
  },
  { ...same('float(7,3)', ['1.5', '-9999.999'], decimal(4, 3)), print: 'float' },
  {
    ...same(
      'double',
      ['0', '0.1', '1.7976931348623157e308', '5e-324', '1e15', '1e22', '1e-16', '1234567890123456.5'],
      anyDouble.map(negativeZero),
    ),
    print: 'double',
  },
  { ...same('double(10,3)', ['1.5', '-9999999.999'], decimal(7, 3)), print: 'double' },
];

/** MariaDB keeps the sign of a zero in some releases, and loses it in others; MySQL prints `-0`. */
function negativeZero(text: string): string {
  return text === '-0' ? '0' : text;
}

const bytes = (type: string, maxLength: number, ...edges: readonly string[]): MysqlColumn => ({
  type,
  edges: ["x''", "x'00'", "x'20'", "x'efbbbf'", "x'5c27'", ...edges],
  any: hexBytes(maxLength).map((hex) => `x'${hex}'`),
  print: 'bytes',
});

const bitField = (width: number): MysqlColumn => ({
  type: `bit(${String(width)})`,
  edges: ["b'0'", `b'${'1'.repeat(width)}'`, `b'1${'0'.repeat(width - 1)}'`],
  any: fc
    .string({ unit: fc.constantFrom('0', '1'), minLength: 1, maxLength: width })
    .map((digits) => `b'${digits}'`),
  print: 'bytes',
});

const coordinate = fc.integer({ min: -89, max: 89 }).map((n) => String(n / 2));
const spot = fc.tuple(coordinate, coordinate).map((xy) => xy.join(' '));
const spots = (count: number): fc.Arbitrary<string> =>
  fc.array(spot, { minLength: count, maxLength: 6 }).map((all) => all.join(','));

function shape(type: string, ...texts: readonly fc.Arbitrary<string>[]): MysqlColumn {
  const text = fc.oneof(...texts);
  return {
    type,
    edges: [],
    any: fc
      .tuple(text, fc.constantFrom('', ', 3857'))
      .map(([wkt, srid]) => `st_geomfromtext('${wkt}'${srid})`),
    print: 'bytes',
  };
}

const POINT = spot.map((at) => `POINT(${at})`);
const LINE = spots(2).map((all) => `LINESTRING(${all})`);
const POLYGON = coordinate.map((x) => `POLYGON((${x} 0,${x} 9,90 9,${x} 0))`);
const POINTS = spots(1).map((all) => `MULTIPOINT(${all})`);
const LINES = fc.tuple(spots(2), spots(2)).map(([a, b]) => `MULTILINESTRING((${a}),(${b}))`);
const POLYGONS = coordinate.map((x) => `MULTIPOLYGON(((${x} 0,${x} 9,90 9,${x} 0)))`);
const MIXED = fc.tuple(POINT, LINE).map((all) => `GEOMETRYCOLLECTION(${all.join(',')})`);

const BYTES: readonly MysqlColumn[] = [
  bytes('binary(16)', 16, "x'ffffffffffffffffffffffffffffffff'"),
  bytes('binary(255)', 255),
  bytes('varbinary(255)', 200),
  bytes('varbinary(300)', 300),
  bytes('tinyblob', 200, `repeat(x'ff', 255)`),
  bytes('blob', 300, `repeat(x'80', 65535)`),
  bytes('mediumblob', 300, `repeat(x'00', 70000)`),
  bytes('longblob', 300, `repeat(x'c3', 70000)`),
  ...[1, 7, 8, 9, 33, 63, 64].map(bitField),
  shape('geometry', POINT, LINE, POLYGON, POINTS, LINES, POLYGONS, MIXED),
  shape('point', POINT),
  shape('linestring', LINE),
  shape('polygon', POLYGON),
  shape('multipoint', POINTS),
  shape('multilinestring', LINES),
  shape('multipolygon', POLYGONS),
  shape('geometrycollection', MIXED),
];

const DIGITS = [0, 1, 2, 3, 4, 5, 6];

/** The name of a type with so many digits behind the second. */
function precise(type: string, digits: number, rest = ''): string {
  return `${type}${digits === 0 ? '' : `(${String(digits)})`}${rest}`;
}

function fraction(digits: number, digit: string): string {
  return digits === 0 ? '' : `.${digit.repeat(digits)}`;
}

/** Up to 838 hours and below zero. */
const duration = (digits: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.boolean(), fc.nat(837), clock(digits))
    .map(([negative, hours, text]) => `${negative ? '-' : ''}${two(hours)}${text.slice(2)}`);

const TIMES: readonly MysqlColumn[] = [
  same(
    'date',
    ["'0000-00-00'", "'2026-00-00'", "'2026-02-00'", "'0001-01-01'", "'9999-12-31'", "'2000-02-29'"],
    quoted(anyDate),
  ),
  ...DIGITS.map((digits) =>
    same(
      precise('time', digits),
      [
        ...["'838:59:59'", "'-838:59:59'", "'00:00:00'", "'-00:01:00'", "'-01:00:00'", "'-00:00:01'"],
        ...(digits === 0
          ? []
          : [`'-00:00:00${fraction(digits, '9')}'`, `'-00:00:59${fraction(digits, '1')}'`]),
      ],
      quoted(duration(digits)),
    ),
  ),
  ...DIGITS.map((digits) =>
    same(
      precise('datetime', digits),
      [
        `'0000-00-00 00:00:00'`,
        `'9999-12-31 23:59:59${fraction(digits, '9')}'`,
        `'0001-01-01 00:00:00'`,
        `'2026-00-00 12:00:00'`,
      ],
      quoted(fc.tuple(anyDate, clock(digits)).map((parts) => parts.join(' '))),
    ),
  ),
  ...DIGITS.map((digits) =>
    same(
      precise('timestamp', digits, ' null'),
      [`'0000-00-00 00:00:00'`, `'1970-01-01 00:00:01'`, `'2038-01-19 03:14:07${fraction(digits, '9')}'`],
      quoted(
        fc
          .tuple(fc.integer({ min: 86_400, max: 0x7fff_ffff - 86_400 }), clock(digits))
          .map(([at, time]) => `${new Date(at * 1_000).toISOString().slice(0, 10)} ${time}`),
      ),
    ),
  ),
  {
    ...same(
      'timestamp(3) null default null',
      [`'2106-02-07 06:28:15.999'`, `'2038-01-19 03:14:08.000'`],
      quoted(fc.integer({ min: 2_039, max: 2_105 }).map((later) => `${String(later)}-06-07 08:09:10.123`)),
    ),
    server: 'mariadb',
  },
];

const LABELS = ['a', 'B b', "it's", 'x,y', 'é', '🌊', ')'];
const labels = LABELS.map((label) => `'${label.replaceAll("'", "''")}'`).join(',');
const members = LABELS.filter((label) => !label.includes(','));
const MANY = Array.from({ length: 64 }, (_, index) => `s${String(index)}`);
const listed = (all: readonly string[]): string =>
  all.map((each) => `'${each.replaceAll("'", "''")}'`).join(',');
const some = (all: readonly string[]): fc.Arbitrary<string> =>
  fc.subarray([...all]).map((chosen) => literal(chosen.join(',')));

const ENUMS: readonly MysqlColumn[] = [
  same(
    `enum(${labels})`,
    [...LABELS.map(literal), "'no such label'"],
    fc.constantFrom(...LABELS).map(literal),
  ),
  same(
    `enum(${listed(Array.from({ length: 300 }, (_, n) => `e${String(n)}`))})`,
    ["'e0'", "'e299'"],
    fc.nat(299).map((n) => `'e${String(n)}'`),
  ),
  same(`set(${listed(members)})`, ["''", "'nothing'"], some(members)),
  same(
    `set(${listed(MANY)})`,
    ["''", '9223372036854775808', '18446744073709551615', '2147483648'],
    some(MANY),
  ),
  same("enum('ж','я') character set cp1251", [literal('ж')], fc.constantFrom('ж', 'я').map(literal)),
  same("set('ж','я') character set utf16", [literal('ж,я')], some(['ж', 'я'])),
];

/** A column of characters, some of which its charset has. */
function text(type: string, characters: string, length = 20): MysqlColumn {
  const unit = fc.constantFrom(...Array.from(`${characters}aZ09 ~`));
  return same(type, ["''", "' a'", "'a  '"], fc.string({ unit, maxLength: length }).map(literal));
}

/** Characters that each charset has; those with a reading of their own are among them. */
const CHARSETS: Readonly<Record<string, string>> = {
  ascii: '!',
  armscii8: 'Աա',
  big5: '中文',
  cp1250: 'Łź€',
  cp1251: 'Жя€',
  cp1256: 'پچ',
  cp1257: 'āč',
  cp850: 'é░',
  cp852: 'Łđ',
  cp866: 'Жя',
  cp932: '日本①～',
  dec8: 'éœ',
  eucjpms: '日本①丂',
  euckr: '한국',
  gb2312: '中文',
  gbk: '中文囧',
  gb18030: '中文🌊€',
  geostd8: 'აბ',
  greek: 'αΩ',
  hebrew: 'אב',
  hp8: 'éš',
  keybcs2: 'Čž',
  koi8r: 'Жя',
  koi8u: 'Ґї',
  latin1: 'é€Ÿ',
  latin2: 'Łódź',
  latin5: 'ğış',
  latin7: 'āčē',
  macce: 'Łź',
  macroman: 'éπ',
  sjis: '日本ｱ〜',
  swe7: 'ÅÄ',
  tis620: 'กข',
  ucs2: 'é日\uFEFF',
  ujis: '日本ｱ〜丂',
  utf16: 'é🌊\uFEFF',
  utf16le: 'é🌊\uFEFF',
  utf32: 'é🌊\uFEFF',
  utf8mb3: 'é日\uFEFF',
  utf8mb4: 'é🌊\uFEFF\u0301',
};

/** Charsets of which the servers have one name each for what is tested under another. */
export const TESTED_CHARSETS: readonly string[] = [...Object.keys(CHARSETS), 'utf8', 'binary'];

const TEXTS: readonly MysqlColumn[] = [
  text('char(20)', 'é🌊'),
  same('varchar(255)', [...oddTexts, 'a\0b'].map(literal), anyText.map(literal)),
  same('varchar(3000)', [literal('x'.repeat(300))], anyText.map(literal)),
  same('tinytext', oddTexts.map(literal), anyText.map(literal)),
  same('text', [...oddTexts, '🌊'.repeat(9_000)].map(literal), anyText.map(literal)),
  same('mediumtext', oddTexts.map(literal), anyText.map(literal)),
  same('longtext', ["repeat('é', 70000)"], anyText.map(literal)),
  ...Object.entries(CHARSETS).flatMap(([charset, characters]) => [
    { ...text(`varchar(20) character set ${charset}`, characters), ...onMysql(charset) },
    { ...text(`text character set ${charset}`, characters), ...onMysql(charset) },
  ]),
];

function onMysql(charset: string): { readonly server?: MysqlServerKind } {
  return charset === 'gb18030' ? { server: 'mysql' } : {};
}

const json = (
  values: fc.Arbitrary<string>,
  edges: readonly string[],
  server: MysqlServerKind,
): MysqlColumn => ({
  ...same('json', edges.map(literal), values.map(literal)),
  server,
});

/** Values that JSON of MySQL has beyond those of JSON. */
const TYPED: readonly string[] = [
  "json_object('d', cast(1.10 as decimal(10,2)), 'n', cast(-0.5 as decimal(3,1)))",
  "json_array(date'2026-11-30', time'-12:34:56.789', timestamp'2026-11-30 01:02:03.5')",
  "json_array(cast(x'00ff' as binary), b'101', repeat(x'00ff', 100))",
  "json_array(st_geomfromtext('POINT(1 2)'))",
  'cast(1.0e0 as json)',
  'cast(18446744073709551615 as json)',
  "json_array(repeat('x', 70000), 1, 70000)",
];

const JSONS: readonly MysqlColumn[] = [
  json(
    anyJson,
    ['null', 'true', '[]', '{}', '""', '-0.0', '1e20', '9007199254740993', '{"b": 1, "10": 2, "9": 3}'],
    'mysql',
  ),
  { ...same('json', TYPED, fc.constantFrom(...TYPED)), server: 'mysql' },
  json(anyJson, ['null', '{"b":1,"a" : 1.10}', '1e2'], 'mariadb'),
];

/** The 8 groups of an address in hexadecimal digits, many of them zero. */
const groups = fc
  .array(fc.oneof(fc.nat(0xffff), fc.constant(0)), { minLength: 8, maxLength: 8 })
  .map((all) => all.map((n) => n.toString(16)).join(':'));

const MARIADB: readonly MysqlColumn[] = [
  same(
    'uuid',
    [
      "'00000000-0000-0000-0000-000000000000'",
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'",
    ],
    quoted(
      fc.oneof(
        fc.uuid(),
        fc.uint8Array({ minLength: 16, maxLength: 16 }).map((all) => Buffer.from(all).toString('hex')),
      ),
    ),
  ),
  same(
    'inet6',
    [
      ...["'::'", "'::1'", "'::ffff:192.0.2.1'", "'2001:db8::'", "'::192.0.2.1'", "'::5'", "'1::'"],
      ...["'::1:0'", "'1:0:0:2:0:0:0:3'", "'1:0:2:0:3:0:4:0'", "'0:1:2:3:4:5:6:7'", "'::ffff:0:0'"],
    ],
    quoted(
      fc.oneof(
        groups,
        fc.ipV4().map((address) => `::ffff:${address}`),
      ),
    ),
  ),
  same('inet4', ["'0.0.0.0'", "'255.255.255.255'", "'192.0.2.0'"], quoted(fc.ipV4())),
  same('varchar(300) compressed', [literal(''), "repeat('x', 250)"], anyText.map(literal)),
  same(
    'text compressed character set latin1',
    ["repeat('é', 250)"],
    fc.string({ unit: fc.constantFrom(...Array.from('é€a')), maxLength: 200 }).map(literal),
  ),
  bytes('blob compressed', 300, `repeat(x'00', 200)`),
  bytes('varbinary(300) compressed', 300, `repeat(x'00', 200)`),
  {
    ...bytes('vector(2)', 8),
    edges: ["vec_fromtext('[0,-1]')", "vec_fromtext('[3.4e38,1e-45]')"],
    any: fc.tuple(coordinate, coordinate).map((both) => `vec_fromtext('[${both.join(',')}]')`),
  },
  text('varchar(20) collate latin1_swedish_nopad_ci', 'é'),
  text('varchar(20) collate utf8mb4_uca1400_ai_ci', 'é🌊'),
  text('varchar(20) collate utf16_uca1400_ai_ci', 'é🌊'),
].map((column) => ({ ...column, server: 'mariadb' as const }));

/** A table each. */
export const MYSQL_TABLES: Readonly<Record<string, readonly MysqlColumn[]>> = {
  numbers: NUMBERS,
  'bytes, bits and spatial values': BYTES,
  'dates and times': TIMES,
  'enums and sets': ENUMS,
  'texts of every charset': TEXTS,
  JSON: JSONS,
  'types of MariaDB alone': MARIADB,
};

/** Types of which the first row stops the stream: where the next column starts is not known. */
export const STOPS_THE_STREAM: Readonly<Record<MysqlServerKind, readonly string[]>> = {
  mysql: ['vector'],
  mariadb: [],
};
