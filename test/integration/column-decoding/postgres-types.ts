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

/** Values are the texts that the type's input function takes. */
export type PostgresColumn = Column<string>;

const oneOf = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);
const bits = (maxLength: number, minLength = 0): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('0', '1'), minLength, maxLength });

/** Values that are few and all told: none are drawn but those. */
function only(type: string, ...edges: readonly string[]): PostgresColumn {
  return { type, edges, any: oneOf(...edges) };
}

const offset = fc
  .tuple(fc.constantFrom('+', '-'), fc.nat(15), fc.nat(59))
  .map(([sign, hour, minute]) => `${sign}${two(hour)}:${two(minute)}`);
const dayAndClock = fc.tuple(anyDate, clock(6), fc.boolean());
const timestamp = dayAndClock
  .map(([date, time, before]) => `${date} ${time}${before ? ' BC' : ''}`)
  .filter(
    // Before that there is no timestamp.
    (text) => !text.endsWith('BC') || Number(text.slice(0, 4)) <= 4_712,
  );

const NUMBERS: readonly PostgresColumn[] = [
  { type: 'int2', edges: integerEdges(16), any: integer(16) },
  { type: 'int4', edges: integerEdges(32), any: integer(32) },
  { type: 'int8', edges: integerEdges(64), any: integer(64) },
  {
    type: 'numeric',
    edges: [
      ...['0', '0.00', '-0.5', '1.10', 'NaN', 'Infinity', '-Infinity', '1e-300', '1e300', '9007199254740993'],
      `${'9'.repeat(1_000)}.${'1'.repeat(1_000)}`,
      `-${'9'.repeat(130_000)}`,
      `0.${'0'.repeat(16_000)}1`,
    ],
    any: fc.oneof(decimal(30, 20), decimal(5, 0)),
  },
  { type: 'numeric(10, 3)', edges: ['9999999.999', '-9999999.999', '0.001'], any: decimal(7, 3) },
  { type: 'numeric(3, -2)', edges: ['99900', '-100'], any: decimal(5, 0).map((text) => text.slice(0, 4)) },
  {
    type: 'float4',
    edges: ['NaN', 'Infinity', '-Infinity', '-0', '1.1', '3.4028235e38', '1e-45', '16777217', '0.3'],
    any: anyFloat,
  },
  {
    type: 'float8',
    edges: ['NaN', 'Infinity', '-Infinity', '-0', '0.1', '1.7976931348623157e308', '5e-324', '1e22', '1e-7'],
    any: anyDouble,
  },
  {
    type: 'money',
    edges: ['-92233720368547758.08', '92233720368547758.07', '0', '-0.01'],
    any: decimal(14, 2),
  },
  { type: 'bool', edges: ['t', 'f'], any: oneOf('t', 'f') },
  { type: 'oid', edges: integerEdges(32, true), any: integer(32, true) },
  { type: 'xid', edges: integerEdges(32, true), any: integer(32, true) },
  { type: 'xid8', edges: integerEdges(64, true), any: integer(64, true) },
  { type: 'cid', edges: integerEdges(32, true), any: integer(32, true) },
];

const TEXTS: readonly PostgresColumn[] = [
  { type: 'text', edges: [...oddTexts, '🌊'.repeat(30_000)], any: anyText },
  { type: 'varchar', edges: oddTexts, any: anyText },
  {
    type: 'varchar(5)',
    edges: ['', '🌊🌊🌊🌊🌊', 'a    '],
    any: anyText.map((text) => Array.from(text).slice(0, 5).join('')),
  },
  {
    type: 'char(7)',
    edges: ['', ' ', 'a', '🌊'],
    any: anyText.map((text) => Array.from(text).slice(0, 7).join('')),
  },
  {
    type: '"char"',
    edges: ['', 'a', '\\377', '\\200', '\\', ' '],
    any: fc.string({ unit: 'grapheme-ascii', maxLength: 1 }),
  },
  {
    type: 'name',
    edges: ['', 'a b', 'é'.repeat(31), 'x'.repeat(63)],
    any: anyText.map((text) => text.slice(0, 15)),
  },
  { type: 'refcursor', edges: oddTexts, any: anyText },
  {
    type: 'bytea',
    edges: ['\\x', '\\x00', '\\xff5c78', `\\x${'c3'.repeat(9_000)}`],
    any: hexBytes(60).map((hex) => `\\x${hex}`),
  },
  { type: 'bit(5)', edges: ['00000', '11111'], any: bits(5, 5) },
  { type: 'bit', edges: ['0', '1'], any: bits(1, 1) },
  { type: 'varbit', edges: ['', '0', '1'.repeat(200)], any: bits(90) },
  { type: 'varbit(9)', edges: ['', '100000001'], any: bits(9) },
  {
    type: 'uuid',
    edges: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    any: fc.uuid(),
  },
  { type: 'state', edges: ['paid', `it's "sent"`, '', 'é,}'], any: oneOf('paid', '', 'é,}') },
  { type: 'label', edges: oddTexts, any: anyText },
];

const TIMES: readonly PostgresColumn[] = [
  {
    type: 'date',
    edges: [
      '-infinity',
      'infinity',
      '4713-01-01 BC',
      '5874897-12-31',
      '0001-01-01',
      '0001-12-31 BC',
      '2000-02-29',
    ],
    any: anyDate,
  },
  { type: 'time', edges: ['00:00:00', '24:00:00', '23:59:59.999999', '00:00:00.000001'], any: clock(6) },
  { type: 'time(3)', edges: ['12:00:00.9999'], any: clock(6) },
  {
    type: 'timetz',
    edges: ['00:00:00+15:59:59', '24:00:00-15:59:59', '12:00:00.000001+00', '12:00:00+05:45'],
    any: fc.tuple(clock(6), offset).map((parts) => parts.join('')),
  },
  {
    type: 'timestamp',
    edges: [
      '-infinity',
      'infinity',
      '4714-11-24 00:00:00 BC',
      '294276-12-31 23:59:59.999999',
      '0001-01-01 00:00:00',
    ],
    any: timestamp,
  },
  { type: 'timestamp(0)', edges: ['1999-12-31 23:59:59.6'], any: timestamp },
  {
    type: 'timestamptz',
    edges: [
      ...['-infinity', 'infinity', '4714-11-24 00:00:00+00 BC', '294276-12-31 23:59:59.999999+00'],
      '2026-03-29 02:30:00 Europe/Berlin',
    ],
    any: fc
      .tuple(anyDate, clock(6), offset)
      .map(([date, time, zone]) => `${date} ${time}${zone}`)
      // A day before the first of the common era would be one of the year 1 BC: allowed, and read as it is.
      .filter((text) => !text.startsWith('0001-01-01')),
  },
  {
    type: 'interval',
    edges: [
      ...['0', '178000000 years', '-178000000 years', '1 mon -1 days +00:00:00.000001', '-1 mons +30 days'],
      ...['infinity', '-infinity', '-00:00:00.000001', '2562047788:00:54.775807'],
    ],
    any: fc
      .tuple(
        fc.integer({ min: -9_999, max: 9_999 }),
        fc.integer({ min: -40, max: 40 }),
        clock(6),
        fc.boolean(),
      )
      .map(
        ([months, days, time, negative]) =>
          `${String(months)} mons ${String(days)} days ${negative ? '-' : ''}${time}`,
      ),
  },
  { type: 'interval day to second(2)', edges: ['1 day 00:00:00.999'], any: clock(6) },
];

const pairs = (count: number): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(anyDouble, anyDouble), { minLength: 1, maxLength: count })
    .map((points) => points.map(([x, y]) => `(${x},${y})`).join(','));

const SHAPES: readonly PostgresColumn[] = [
  { type: 'point', edges: ['(0,0)', '(-0,1e300)', '(NaN,Infinity)'], any: pairs(1) },
  {
    type: 'lseg',
    edges: ['[(0,0),(1,1)]'],
    any: fc.tuple(pairs(1), pairs(1)).map(([a, b]) => `[${a},${b}]`),
  },
  {
    type: 'box',
    edges: ['(1,1),(0,0)', '(0,0),(1,1)'],
    any: fc.tuple(pairs(1), pairs(1)).map((two) => two.join(',')),
  },
  { type: 'line', edges: ['{1,0,0}', '{0,-1,2.5}'], any: anyDouble.map((c) => `{1,-1,${c}}`) },
  { type: 'path', edges: ['[(0,0)]', '((0,0),(1,1))'], any: pairs(5).map((points) => `[${points}]`) },
  { type: 'polygon', edges: ['((0,0))'], any: pairs(5).map((points) => `(${points})`) },
  {
    type: 'circle',
    edges: ['<(0,0),0>'],
    any: fc.tuple(pairs(1), fc.nat()).map(([at, radius]) => `<${at},${String(radius)}>`),
  },
  {
    type: 'inet',
    edges: ['0.0.0.0/0', '192.0.2.1', '::1', '2001:db8::1/64', '::ffff:1.2.3.4'],
    any: fc.oneof(fc.ipV4(), fc.ipV6()),
  },
  {
    type: 'cidr',
    edges: ['0.0.0.0/0', '10/8', '2001:db8::/32'],
    any: fc.ipV4().map((address) => `${address}/32`),
  },
  {
    type: 'macaddr',
    edges: ['00:00:00:00:00:00', 'ffffffffffff'],
    any: fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  },
  {
    type: 'macaddr8',
    edges: ['00:00:00:00:00:00:00:00'],
    any: fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  },
];

const word = fc.string({ unit: fc.constantFrom(...Array.from("aé'\\🌊 :")), minLength: 1, maxLength: 6 });
const lexeme = word.map((text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);

const DOCUMENTS: readonly PostgresColumn[] = [
  {
    type: 'json',
    edges: ['null', '{"a" : 1,\n "a": 1.10}', ' [ ] ', '"\\u0000"', '1e400', '-0'],
    any: anyJson,
  },
  {
    type: 'jsonb',
    edges: ['null', '{"b": 1, "a": 1.10}', '1e100', '-0', '[]', '9007199254740993'],
    any: anyJson,
  },
  {
    type: 'jsonpath',
    edges: ['$', 'strict $.**{2 to last}.a[*] ? (@ > 1 && @.b like_regex "^a" flag "i")', '$."é\\"".size()'],
    any: word.map((text) => `$.${JSON.stringify(text)}`),
  },
  {
    type: 'xml',
    edges: ['', '<a/>', 'é &amp; <b>1</b>'],
    any: fc.stringMatching(/^[a-zA-Z 0-9é]{0,12}$/).map((text) => `<a b="${text}">${text}</a>`),
  },
  {
    type: 'tsvector',
    edges: ['', `'a':1A,2B 'b'`, `'it''s':3`],
    any: fc
      .array(fc.tuple(lexeme, fc.integer({ min: 1, max: 16_383 }), oneOf('A', 'B', 'C', '')))
      .map((all) => all.map(([text, at, weight]) => `${text}:${String(at)}${weight}`).join(' ')),
  },
  {
    type: 'tsquery',
    edges: ['', `'a' & !'b' | 'c':*A <-> 'd'`, `!!'x' <3> 'y'`],
    any: fc.tuple(lexeme, oneOf('&', '|', '<->', '<7>'), lexeme).map((parts) => parts.join(' ')),
  },
];

const lsn = fc
  .tuple(fc.nat(0xffff_ffff), fc.nat(0xffff_ffff))
  .map(([high, low]) => `${high.toString(16)}/${low.toString(16)}`);
const snapshot = fc
  .tuple(fc.integer({ min: 1, max: 1_000 }), fc.uniqueArray(fc.integer({ min: 1_001, max: 2_000 })))
  .map(([least, running]) => `${String(least)}:2001:${running.sort((a, b) => a - b).join(',')}`);
const numbers = fc.array(fc.nat(32_767), { maxLength: 9 }).map((all) => all.join(' '));

const OF_THE_SERVER: readonly PostgresColumn[] = [
  { type: 'pg_lsn', edges: ['0/0', 'FFFFFFFF/FFFFFFFF', '1/0'], any: lsn },
  { type: 'pg_snapshot', edges: ['10:20:10,14,15', '1:1:'], any: snapshot },
  { type: 'txid_snapshot', edges: ['10:20:10,14,15'], any: snapshot },
  { type: 'tid', edges: ['(0,0)', '(4294967295,65535)'], any: fc.nat(65_535).map((n) => `(${String(n)},1)`) },
  { type: 'int2vector', edges: ['', '1 -2'], any: numbers },
  { type: 'oidvector', edges: ['', '4294967295'], any: numbers },
  only('aclitem', '=r/pg_monitor', 'pg_read_all_data=arwd*/pg_monitor'),
  only('regclass', 'pg_class', 'pg_catalog.pg_type', 'pg_stat_activity'),
  only('regtype', 'int4', 'timestamp with time zone', 'int4[]', '-'),
  only('regproc', 'now', 'pg_catalog.int4pl', '-'),
  only('regprocedure', 'abs(int4)', '-'),
  only('regoper', '96', '0'),
  only('regoperator', '=(int4,int4)', '0'),
  only('regrole', '-', 'pg_monitor'),
  only('regnamespace', 'pg_catalog', '-'),
  only('regcollation', '"C"', '"default"', '-'),
  only('regconfig', 'simple', 'english', '-'),
  only('regdictionary', 'simple', '-'),
];

/** A range of numbers, or of what `print` makes of them. */
function range(type: string, print: (n: number) => string, ...edges: readonly string[]): PostgresColumn {
  const bound = fc.option(fc.integer({ min: -9_000, max: 9_000 }));
  const text = fc.tuple(bound, bound, oneOf('[', '('), oneOf(']', ')')).map(([a, b, open, close]) => {
    const [low, high] = a === null || b === null || a <= b ? [a, b] : [b, a];
    const printed = (n: number | null): string => (n === null ? '' : `"${print(n)}"`);
    return `${open}${printed(low)},${printed(high)}${close}`;
  });
  return { type, edges: ['empty', '(,)', ...edges], any: text };
}

function multi(type: string, of: PostgresColumn): PostgresColumn {
  const any = fc.array(of.any, { maxLength: 4 }).map((all) => `{${all.join(',')}}`);
  return { type, edges: ['{}', '{(,)}'], any };
}

const day = (n: number): string => new Date(n * 86_400_000).toISOString().slice(0, 10);
const second = (n: number): string =>
  new Date(n * 1_000_000_001).toISOString().replace('T', ' ').replace('Z', '');
const RANGES: readonly PostgresColumn[] = [
  range('int4range', String, '[-2147483648,2147483647)'),
  range('int8range', String, '[-9223372036854775808,9223372036854775807)'),
  range('numrange', (n) => `${String(n)}.50`, '[NaN,NaN]', '[,9007199254740993.1]'),
  range('daterange', day, '[-infinity,infinity]', '[2000-01-01,2000-01-01]'),
  range('tsrange', second, '[-infinity,infinity]'),
  range('tstzrange', (n) => `${second(n)}+05:45`, '[-infinity,infinity]'),
];
const MULTIRANGES = RANGES.map((of) => multi(of.type.replace('range', 'multirange'), of));

/** An array's text, or with two brackets around each element a line of one column. */
function arrayText(elements: readonly (string | null)[], delimiter: string): string {
  const quoted = elements.map((element) =>
    element === null ? 'NULL' : `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  );
  return `{${quoted.join(delimiter)}}`;
}

/** An array of a column's values: empty, with NULLs, of two dimensions, with bounds of its own. */
function arrayOf({ type, edges, any }: PostgresColumn): PostgresColumn {
  const delimiter = type === 'box' ? ';' : ',';
  const element = fc.option(
    fc.oneof(any, oneOf(...edges.filter(({ length }) => length < 100), ...edges.slice(0, 1))),
  );
  const line = fc.array(element, { minLength: 1, maxLength: 4 });
  const square = line.map(
    (elements) => `{${[elements, elements].map((each) => arrayText(each, delimiter)).join(delimiter)}}`,
  );
  const flat = line.map((elements) => arrayText(elements, delimiter));
  return {
    type: `${type}[]`,
    edges: ['{}', '{NULL}'],
    any: fc.oneof(
      flat,
      square,
      line.map((elements) => `[-1:${String(elements.length - 2)}]=${arrayText(elements, delimiter)}`),
    ),
  };
}

function rowText(fields: readonly (string | null)[]): string {
  const quoted = fields.map((field) =>
    field === null ? '' : `"${field.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`,
  );
  return `(${quoted.join(',')})`;
}

const line: PostgresColumn = {
  type: 'order_line',
  edges: ['(,,,)', '(0,"","{}",)'],
  any: fc
    .tuple(
      fc.option(integer(64)),
      fc.option(anyText),
      fc.option(fc.array(decimal(3, 2)).map((all) => arrayText(all, ','))),
      fc.option(timestamp),
    )
    .map(([id, text, amounts, at]) => rowText([id, text, amounts, at])),
};
const COMPOSITES: readonly PostgresColumn[] = [
  line,
  {
    type: 'order_head',
    edges: ['(,)'],
    any: fc.tuple(line.any, fc.array(line.any)).map(([one, all]) => rowText([one, arrayText(all, ',')])),
  },
  {
    type: 'amounts',
    edges: ['{}', '{1.10,NULL}'],
    any: fc.array(decimal(4, 2)).map((all) => arrayText(all, ',')),
  },
];

const ALL = [NUMBERS, TEXTS, TIMES, SHAPES, DOCUMENTS, OF_THE_SERVER, RANGES, MULTIRANGES].flat();

/** A table each. */
export const POSTGRES_TABLES: Readonly<Record<string, readonly PostgresColumn[]>> = {
  numbers: NUMBERS,
  'texts, bytes, bits, uuids and enums': TEXTS,
  'dates and times': TIMES,
  'shapes and addresses': SHAPES,
  'JSON, XML and documents': DOCUMENTS,
  "types of the server's own": OF_THE_SERVER,
  'ranges and multiranges': [...RANGES, ...MULTIRANGES],
  'composites and domains of arrays': [...COMPOSITES, ...COMPOSITES.map(arrayOf)],
  'arrays of each of them': ALL.map(arrayOf),
};

/** Types of which a column can be made, but of whose values none can be written: they are NULL. */
export const UNWRITABLE = [
  'gtsvector',
  'pg_node_tree',
  'pg_ndistinct',
  'pg_dependencies',
  'pg_mcv_list',
  'pg_brin_bloom_summary',
  'pg_brin_minmax_multi_summary',
];

/** What the tables above use beside the server's own types. */
export const POSTGRES_TYPES = `
  CREATE TYPE state AS ENUM ('paid', 'it''s "sent"', '', 'é,}');
  CREATE DOMAIN label AS text CHECK (length(VALUE) < 1000);
  CREATE DOMAIN amounts AS numeric(9, 2)[];
  CREATE TYPE order_line AS (id bigint, text label, amounts numeric[], at timestamp);
  CREATE TYPE order_head AS (first order_line, lines order_line[])`;
