import type { OutboxEvent } from '@strandline/core';
import { startMariadb, startMysql } from '@strandline/servers';
import {
  testMysqlDatabase,
  TestLog,
  waitUntil,
  type MysqlServerKind,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, mysql, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';

/** A column, and what is stored in it: as SQL, and as the text that is expected; null where only equality is. */
interface Case {
  readonly type: string;
  readonly values: readonly (readonly [sql: string, text: string | null])[];
  readonly only?: MysqlServerKind;
}

const same = (...texts: readonly string[]): (readonly [string, string])[] =>
  texts.map((text) => [text, text]);
const quoted = (...texts: readonly string[]): (readonly [string, string])[] =>
  texts.map((text) => [`'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`, text]);

const INTEGERS: readonly Case[] = [
  { type: 'tinyint', values: same('-128', '127', '0') },
  { type: 'tinyint unsigned', values: same('0', '255') },
  { type: 'smallint', values: same('-32768', '32767') },
  { type: 'smallint unsigned', values: same('65535', '32768') },
  { type: 'mediumint', values: same('-8388608', '8388607', '-1') },
  { type: 'mediumint unsigned', values: same('16777215', '8388608') },
  { type: 'int', values: same('-2147483648', '2147483647', '-1') },
  { type: 'int unsigned', values: same('4294967295', '2147483648') },
  { type: 'int(10) unsigned zerofill', values: same('42', '0', '4294967295') },
  {
    type: 'bigint',
    values: same(
      '-9223372036854775808',
      '9223372036854775807',
      '9007199254740993',
      '-9007199254740993',
      '-1',
    ),
  },
  {
    type: 'bigint unsigned',
    values: same('18446744073709551615', '9223372036854775808', '9007199254740992'),
  },
  {
    type: 'boolean',
    values: [
      ['true', '1'],
      ['false', '0'],
    ],
  },
  {
    type: 'year',
    values: [
      ['2026', '2026'],
      ['1901', '1901'],
      ['2155', '2155'],
      ["'0000'", '0000'],
    ],
  },
];

const FRACTIONS: readonly Case[] = [
  { type: 'decimal(3,1)', values: same('-0.5', '0.5', '-99.9', '0.0', '10.0') },
  { type: 'decimal(10,0)', values: same('-1', '0', '9999999999') },
  { type: 'decimal(1,1)', values: same('-0.1', '0.9') },
  { type: 'decimal(10,10)', values: same('0.0000000001', '-0.9999999999') },
  { type: 'decimal(8,2) unsigned zerofill', values: same('1.20', '0.00') },
  {
    type: 'decimal(65,30)',
    values: same(
      '99999999999999999999999999999999999.999999999999999999999999999999',
      '-12345678901234567890123456789012345.000000000000000000000000000001',
      '0.000000000000000000000000000000',
    ),
  },
  {
    type: 'float',
    values: [
      ...same('1.1', '-0.5', '16777216', '3.4028235e38', '1e-16', '0', '123456.79'),
      ['1.17549435e-38', '1.1754944e-38'],
      ['1e20', '1e20'],
    ],
  },
  {
    type: 'float(7,3)',
    values: [
      ['1.5', '1.5'],
      ['-12.125', '-12.125'],
    ],
  },
  {
    type: 'double',
    values: [
      ...same('0.1', '-2.5', '1.7976931348623157e308', '5e-324', '0.30000000000000004', '0.1234567890123456'),
      ...same('123456789012345680', '1e15', '100000000000000', '1e22', '1e-16').map(
        ([sql, text]) => [sql, text === '123456789012345680' ? '1.2345678901234568e17' : text] as const,
      ),
      ['1e-15', '0.000000000000001'],
    ],
  },
  // Newer releases of MariaDB keep no sign of zero.
  { type: 'double', only: 'mysql', values: [['-0e0', '-0']] },
  { type: 'double(10,3)', values: [['1.5', '1.5']] },
];

const BYTES: readonly Case[] = [
  {
    type: 'binary(16)',
    values: [
      ["x'000102030405060708090a0b0c0d0e0f'", '0x000102030405060708090a0b0c0d0e0f'],
      ["x'11000000000000000000000000000000'", '0x11000000000000000000000000000000'],
      ["x'20202020'", '0x20202020000000000000000000000000'],
      ["x'00000000000000000000000000000000'", '0x00000000000000000000000000000000'],
    ],
  },
  { type: 'binary(255)', values: [["x'ff00'", `0xff${'00'.repeat(254)}`]] },
  {
    type: 'varbinary(8)',
    values: [
      ["x'00ff00'", '0x00ff00'],
      ["''", '0x'],
      ["x'c3'", '0xc3'],
    ],
  },
  { type: 'varbinary(300)', values: [["x'00'", '0x00']] },
  {
    type: 'tinyblob',
    values: [
      ["x'efbbbf'", '0xefbbbf'],
      ["''", '0x'],
    ],
  },
  { type: 'blob', values: [["x'ffd8'", '0xffd8']] },
  { type: 'mediumblob', values: [["x'00'", '0x00']] },
  { type: 'longblob', values: [["x'80'", '0x80']] },
  {
    type: 'bit(1)',
    values: [
      ["b'1'", '0x01'],
      ["b'0'", '0x00'],
    ],
  },
  { type: 'bit(9)', values: [["b'100000001'", '0x0101']] },
  {
    type: 'bit(64)',
    values: [
      ['18446744073709551615', '0xffffffffffffffff'],
      ['1', '0x0000000000000001'],
    ],
  },
  {
    type: 'point',
    values: [["st_geomfromtext('POINT(1 2)')", '0x000000000101000000000000000000f03f0000000000000040']],
  },
  {
    type: 'geometry',
    values: [["st_geomfromtext('POINT(0 0)', 3857)", '0x110f00000101000000' + '00'.repeat(16)]],
  },
];

const TIMES: readonly Case[] = [
  { type: 'date', values: quoted('2026-11-30', '0000-00-00', '1000-01-01', '9999-12-31', '2026-00-00') },
  {
    type: 'time',
    values: quoted(
      '-838:59:59',
      '838:59:59',
      '00:00:00',
      '-00:00:01',
      '-00:01:00',
      '-01:00:00',
      '-100:00:00',
      '12:34:56',
    ),
  },
  { type: 'time(1)', values: quoted('-00:00:00.5', '12:00:00.1', '-00:01:00.0') },
  { type: 'time(2)', values: quoted('-00:00:00.99', '00:00:00.01') },
  { type: 'time(3)', values: quoted('-12:34:56.789', '-01:00:00.000') },
  { type: 'time(4)', values: quoted('-00:00:00.0001') },
  { type: 'time(5)', values: quoted('00:00:00.00001', '-00:00:00.99999') },
  {
    type: 'time(6)',
    values: quoted('-838:59:59.000000', '-00:00:00.000001', '-00:59:59.999999', '-02:00:00.000000'),
  },
  {
    type: 'datetime',
    values: quoted(
      '2026-11-30 23:59:59',
      '0000-00-00 00:00:00',
      '9999-12-31 23:59:59',
      '1000-01-01 00:00:00',
    ),
  },
  { type: 'datetime(1)', values: quoted('2026-11-30 01:02:03.9') },
  { type: 'datetime(2)', values: quoted('2026-11-30 01:02:03.09') },
  { type: 'datetime(3)', values: quoted('2026-11-30 01:02:03.009', '0000-00-00 00:00:00.000') },
  { type: 'datetime(4)', values: quoted('2026-11-30 01:02:03.0009') },
  { type: 'datetime(5)', values: quoted('2026-11-30 01:02:03.00009') },
  { type: 'datetime(6)', values: quoted('2026-11-30 01:02:03.000009', '9999-12-31 23:59:59.999999') },
  {
    type: 'timestamp null',
    values: quoted(
      '2026-11-30 23:59:59',
      '0000-00-00 00:00:00',
      '1970-01-01 00:00:01',
      '2038-01-19 03:14:07',
    ),
  },
  { type: 'timestamp(1) null', values: quoted('2026-03-29 02:30:00.5') },
  { type: 'timestamp(3) null', values: quoted('2026-10-25 02:30:00.123', '0000-00-00 00:00:00.000') },
  { type: 'timestamp(6) null', values: quoted('2038-01-19 03:14:07.999999', '1970-01-01 00:00:01.000001') },
  {
    type: 'timestamp(2) null',
    values: quoted('2106-02-07 06:28:15.25', '2038-01-19 03:14:08.00'),
    only: 'mariadb',
  },
];

const LABELS: readonly Case[] = [
  {
    type: "enum('a','B b','it''s','x,y','é')",
    values: [...quoted('a', 'B b', "it's", 'x,y', 'é'), ["'no such label'", '']],
  },
  {
    type: "set('a','b','it''s','é')",
    values: [...quoted('', 'a', 'a,b', "b,it's", 'a,b,é'), ["'nothing'", '']],
  },
  {
    type: `set(${Array.from({ length: 64 }, (_, i) => `'s${String(i)}'`).join(',')})`,
    values: [
      ['9223372036854775808', 's63'],
      ['9223372041149743105', 's0,s32,s63'],
      ['2147483648', 's31'],
    ],
  },
  { type: "enum('ж','я') character set cp1251", values: quoted('ж', 'я') },
  { type: "set('ж','я') character set utf16", values: quoted('ж,я') },
];

const TEXTS: readonly Case[] = [
  { type: 'char(20)', values: [...quoted('', 'a', ' a', 'é', '日本', '🌊'), ["'a  '", 'a']] },
  {
    type: 'varchar(255)',
    values: quoted(
      '',
      'a',
      'a  ',
      '\uFEFFbom',
      '🌊',
      "it's",
      '\\',
      '"',
      '?',
      '\u0000',
      'null',
      'e\u0301',
      '\u0085',
    ),
  },
  { type: 'varchar(3000)', values: quoted('long enough for two bytes of length') },
  { type: 'tinytext', values: quoted('\uFEFF', 'x') },
  { type: 'text', values: quoted('two\nlines', '') },
  { type: 'mediumtext', values: quoted('{"a": 1}') },
  { type: 'longtext', values: quoted('🌊'.repeat(300)) },
  { type: 'text collate utf8mb4_bin', values: quoted('a') },
  { type: 'varchar(20) character set utf8mb3', values: quoted('é日', '') },
  { type: 'varchar(20) character set ucs2', values: quoted('é日', '\uFEFFa') },
  { type: 'varchar(20) character set utf16', values: quoted('é🌊', '\uFEFFa') },
  { type: 'varchar(20) character set utf16le', values: quoted('é🌊', '\uFEFFa') },
  { type: 'varchar(20) character set utf32', values: quoted('é🌊', '\uFEFFa') },
  { type: 'char(5) character set utf32', values: quoted('é🌊') },
  { type: 'varchar(20) character set ascii', values: quoted('a~') },
  // The holes of cp1252 are the C1 controls there.
  {
    type: 'varchar(20) character set latin1',
    values: [...quoted('é€Ÿ'), ["x'81'", '\u0081'], ["x'e9'", 'é']],
  },
  { type: 'text character set latin1', values: quoted('é€') },
  { type: 'char(9) character set latin1', values: quoted('é') },
  { type: 'varchar(20) character set latin2', values: quoted('Łódź') },
  { type: 'varchar(20) character set latin5', values: quoted('ğış') },
  { type: 'varchar(20) character set latin7', values: quoted('āčē') },
  { type: 'varchar(20) character set cp850', values: quoted('é░') },
  { type: 'varchar(20) character set cp852', values: quoted('Łđ') },
  { type: 'varchar(20) character set cp866', values: quoted('Жя') },
  { type: 'varchar(20) character set cp1250', values: quoted('Łź€') },
  { type: 'varchar(20) character set cp1251', values: quoted('Жя€') },
  { type: 'varchar(20) character set cp1256', values: quoted('پچ') },
  { type: 'varchar(20) character set cp1257', values: quoted('āč') },
  { type: 'varchar(20) character set koi8r', values: quoted('Жя') },
  { type: 'varchar(20) character set koi8u', values: quoted('Ґї') },
  { type: 'varchar(20) character set greek', values: quoted('αΩ') },
  { type: 'varchar(20) character set hebrew', values: quoted('אב') },
  { type: 'varchar(20) character set tis620', values: quoted('กข') },
  { type: 'varchar(20) character set armscii8', values: quoted('Աա') },
  { type: 'varchar(20) character set geostd8', values: quoted('აბ') },
  { type: 'varchar(20) character set macroman', values: quoted('éπ') },
  { type: 'varchar(20) character set macce', values: quoted('Łź') },
  { type: 'varchar(20) character set dec8', values: quoted('éœ') },
  { type: 'varchar(20) character set hp8', values: quoted('éš') },
  { type: 'varchar(20) character set keybcs2', values: quoted('Čž') },
  { type: 'varchar(20) character set swe7', values: quoted('ÅÄ') },
  { type: 'varchar(20) character set big5', values: quoted('中文') },
  { type: 'varchar(20) character set gb2312', values: quoted('中文') },
  { type: 'varchar(20) character set gbk', values: quoted('中文囧') },
  { type: 'varchar(20) character set gb18030', values: quoted('中文🌊€'), only: 'mysql' },
  { type: 'varchar(20) character set euckr', values: quoted('한국') },
  // The wave dash, where the tables of the world disagree.
  { type: 'varchar(20) character set sjis', values: quoted('日本ｱ〜') },
  { type: 'text character set cp932', values: quoted('日本①～') },
  { type: 'varchar(20) character set ujis', values: quoted('日本ｱ〜', '丂') },
  { type: 'varchar(20) character set eucjpms', values: quoted('日本①', '丂') },
];

const JSON_VALUES: readonly (readonly [string, string])[] = [
  ...quoted('null', 'true', '"text"', '[]', '{}', '""', '-1', '12345', '"🌊 é"'),
  ...quoted('{"a": [1, {"b": null}], "bb": false}'),
  ...quoted('9007199254740993', '18446744073709551615', '-9223372036854775808'),
  ...quoted('[32767, -32768, 65535, 2147483647, -2147483648, 4294967295]'),
];

const JSONS: readonly Case[] = [
  { type: 'json', values: JSON_VALUES },
  {
    type: 'json',
    only: 'mysql',
    values: [
      ...quoted(
        '1.0',
        '-0.0',
        '0.1',
        '1e20',
        '1.2345678901234568e-300',
        '1e15',
        '100000000000000.0',
        '1e-16',
      ),
      [
        "json_object('d', cast(1.10 as decimal(10,2)), 'n', cast(-0.5 as decimal(3,1)))",
        '{"d": 1.10, "n": -0.5}',
      ],
      [
        'json_array(cast(99999999999999999999999999999999999.999999999999999999999999999999 as decimal(65,30)))',
        '[99999999999999999999999999999999999.999999999999999999999999999999]',
      ],
      ["json_object('b', 1, '10', 2, '9', 3, '__proto__', 4)", '{"9": 3, "b": 1, "10": 2, "__proto__": 4}'],
      [
        "json_array(date'2026-11-30', time'-12:34:56.789', timestamp'2026-11-30 01:02:03.5')",
        '["2026-11-30", "-12:34:56.789000", "2026-11-30 01:02:03.500000"]',
      ],
      ["json_array(cast(x'00ff' as binary))", '["base64:type15:AP8="]'],
      ["json_array(x'00ff', b'101')", null],
      ["json_array(repeat(x'00ff', 100))", null],
      ["json_array(st_geomfromtext('POINT(1 2)'))", null],
      ['cast(\'"\\\\u0001\\\\u001f\\\\n\\\\b/\\\\u2028"\' as json)', '"\\u0001\\u001f\\n\\b/\u2028"'],
      [`json_array(repeat('x', 70000), 1, 70000)`, `["${'x'.repeat(70_000)}", 1, 70000]`],
      [`json_object('k', json_array(repeat('y', 200)))`, `{"k": ["${'y'.repeat(200)}"]}`],
    ],
  },
  { type: 'json', only: 'mariadb', values: [...quoted('{"b":1,"a" : 1.10}', '1e2')] },
];

const MARIADB: readonly Case[] = [
  {
    type: 'uuid',
    only: 'mariadb',
    values: quoted(
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      '123e4567-e89b-42d3-a456-426614174000',
      '01890a5d-ac96-774b-bcce-b302099a8057',
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '123e4567-e89b-42d3-a456-420000000000',
      '6ba7b810-9dad-11d1-00b4-00c04fd43000',
    ),
  },
  {
    type: 'inet6',
    only: 'mariadb',
    values: quoted('::1', '2001:db8::ff00:42:8329', '::ffff:192.0.2.1', '::', '2001:db8::'),
  },
  { type: 'inet4', only: 'mariadb', values: quoted('192.0.2.0', '0.0.0.0', '255.255.255.255') },
  { type: 'varchar(300) compressed', only: 'mariadb', values: quoted('x'.repeat(250), '') },
  { type: 'text compressed character set latin1', only: 'mariadb', values: quoted('é'.repeat(250)) },
  { type: 'blob compressed', only: 'mariadb', values: [[`repeat(x'00', 200)`, `0x${'00'.repeat(200)}`]] },
  { type: 'varchar(20) collate latin1_swedish_nopad_ci', only: 'mariadb', values: quoted('é  ') },
  { type: 'varchar(20) collate utf8mb4_uca1400_ai_ci', only: 'mariadb', values: quoted('é🌊') },
  { type: 'varchar(20) collate utf16_uca1400_ai_ci', only: 'mariadb', values: quoted('é🌊') },
];

const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  'whole numbers and years': INTEGERS,
  'decimals and floating point': FRACTIONS,
  'bytes, bits and spatial values': BYTES,
  'dates and times': TIMES,
  'enums and sets': LABELS,
  'texts in every charset': TEXTS,
  JSON: JSONS,
  'types of MariaDB': MARIADB,
};

const NAME = 'mysql-values';

/** A pipeline that starts with the rows that are there. */
function valuesPipeline(
  db: TestMysqlDatabase,
  outbox: Parameters<typeof mysql>[0]['outbox'],
  events: OutboxEvent[],
  more: Partial<Parameters<typeof mysql>[0]> = {},
): Pipeline {
  return definePipeline({
    name: `${NAME}-${db.name}`,
    source: mysql({ url: db.url, serverId: db.serverId(), start: 'snapshot', ...more, outbox }),
    offsets: memoryOffsets(),
    drainTimeout: 0,
    log: new TestLog(),
    handle: (event) => void events.push(event),
  });
}

/** Inserts as an application with a permissive session does. */
async function insert(db: TestMysqlDatabase, statements: readonly string[]): Promise<void> {
  const connection = await db.pool.getConnection();
  try {
    await connection.query("set session sql_mode = '', session time_zone = '+00:00', names utf8mb4");
    for (const statement of statements) await connection.query(statement);
    await connection.query('set session sql_mode = default, session time_zone = default');
  } finally {
    connection.release();
  }
}

/** Stores each value before the start and again after, and tells what came out otherwise than expected. */
async function misread(
  db: TestMysqlDatabase,
  group: readonly Case[],
  more: Partial<Parameters<typeof mysql>[0]> = {},
): Promise<readonly string[]> {
  const cases = group.filter(({ only }) => only === undefined || only === db.kind);
  if (cases.length === 0) return [];
  const names = cases.map((_case, index) => `c${String(index)}`);
  const columns = cases.map(({ type }, index) => `${names[index] ?? ''} ${type}`);
  await insert(db, [
    `create table outbox (id bigint auto_increment primary key, k int, ${columns.join(', ')}) character set utf8mb4 row_format=dynamic`,
  ]);
  const count = Math.max(...cases.map(({ values }) => values.length));
  const rows = Array.from({ length: count + 1 }, (_row, row) => {
    const values = cases.map(({ values: all }) => all[row]?.[0] ?? 'null');
    return `insert into outbox (k, ${names.join(', ')}) values (${[String(row), ...values].join(', ')})`;
  });
  await insert(db, rows);

  const events: OutboxEvent[] = [];
  const outbox = { table: 'outbox', id: 'id', key: 'k', columns: names };
  await using pipeline = valuesPipeline(db, outbox, events, more);
  await pipeline.start();
  await waitUntil('the snapshot is handled', () => events.length === rows.length);
  await insert(db, rows);
  await Promise.race([
    waitUntil('the stream is handled', () => events.length === 2 * rows.length),
    pipeline.finished,
  ]);

  const half = (from: number): Map<number, OutboxEvent> =>
    new Map(events.slice(from, from + rows.length).map((event) => [Number(event.key), event]));
  const [snapshot, stream] = [half(0), half(rows.length)];
  const wrong: string[] = [];
  cases.forEach(({ type, values }, index) => {
    for (let row = 0; row <= count; row += 1) {
      const name = names[index] ?? '';
      const expected = row < values.length ? values[row]?.[1] : null;
      const before = snapshot.get(row)?.columns[name];
      const after = stream.get(row)?.columns[name];
      const free = row < values.length && expected === null;
      if (before !== after || (!free && after !== expected)) {
        const short = (text: string | null | undefined): string => JSON.stringify(text ?? null).slice(0, 100);
        wrong.push(
          `${type.slice(0, 60)} ${short(values[row]?.[0])}: ${short(before)} in the snapshot, ${short(after)} in the stream, expected ${short(expected)}`,
        );
      }
    }
  });
  return wrong;
}

describe.each(['mysql', 'mariadb'] as const)('lossless values of %s', (kind) => {
  test.each(Object.entries(GROUPS))('%s', async (_, group) => {
    await using db = await testMysqlDatabase(kind);
    expect(await misread(db, group)).toEqual([]);
  });

  test('all of them where the log has no names of columns', async () => {
    const start = kind === 'mysql' ? startMysql : startMariadb;
    await using server = await start({ settings: { 'binlog-row-metadata': 'MINIMAL' } });
    for (const group of Object.values(GROUPS)) {
      await using db = await testMysqlDatabase(kind, server.url);
      expect(await misread(db, group, { metadata: 'minimal' })).toEqual([]);
    }
  });
});

/** Types of a key, with two values that tell apart what a lossy reading makes one. */
const KEYS: readonly {
  readonly type: string;
  readonly keys: readonly [string, string];
  readonly only?: MysqlServerKind;
}[] = [
  { type: 'bigint unsigned', keys: ['18446744073709551615', '18446744073709551614'] },
  { type: 'decimal(30,2)', keys: ['-9007199254740993.01', '-9007199254740993.02'] },
  { type: 'double', keys: ['0.30000000000000004', '0.3'] },
  { type: 'float', keys: ['16777215', '16777216'] },
  {
    type: 'binary(16)',
    keys: ["x'0000000000000000000000000000c300'", "x'0000000000000000000000000000c200'"],
  },
  { type: 'varbinary(4)', keys: ["x'00'", "x'0000'"] },
  { type: 'bit(64)', keys: ['18446744073709551615', '18446744073709551614'] },
  { type: 'char(9) character set latin1', keys: ["x'81'", "x'8d'"] },
  { type: 'varchar(9) collate utf8mb4_bin', keys: ["'é'", "'e\u0301'"] },
  { type: "enum('a','b')", keys: ["'a'", "'other'"] },
  { type: "set('a','b')", keys: ["'a,b'", "''"] },
  { type: 'datetime(6)', keys: ["'2026-11-30 01:02:03.000001'", "'2026-11-30 01:02:03.000002'"] },
  { type: 'timestamp(6) null', keys: ["'2026-11-30 01:02:03.000001'", "'0000-00-00'"] },
  { type: 'time(6)', keys: ["'-00:00:00.000001'", "'00:00:00.000001'"] },
  { type: 'date', keys: ["'0000-00-00'", "'2026-00-00'"] },
  { type: 'year', keys: ["'0000'", '1901'] },
  { type: 'json', keys: ["'9007199254740993'", "'9007199254740992'"] },
  {
    type: 'uuid',
    keys: ["'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "'123e4567-e89b-42d3-a456-426614174000'"],
    only: 'mariadb',
  },
  { type: 'inet6', keys: ["'::1'", "'::'"], only: 'mariadb' },
];

describe.each(['mysql', 'mariadb'] as const)('what an event of %s carries', (kind) => {
  test('keys, ids, types, headers and payloads are the same in the snapshot and in the stream', async () => {
    await using db = await testMysqlDatabase(kind);
    for (const { type, keys, only } of KEYS) {
      if (only !== undefined && only !== kind) continue;
      await db.pool.query('drop table if exists outbox');
      await insert(db, [
        `create table outbox (n int auto_increment primary key, v ${type}, w ${type}, payload json, headers json)`,
      ]);
      const rows = keys.map(
        (key) =>
          `insert into outbox (v, w, payload, headers) values (${key}, ${keys[0]}, '{"a": [1.5]}', '{"h": "é"}')`,
      );
      await insert(db, rows);
      const events: OutboxEvent[] = [];
      await using pipeline = valuesPipeline(
        db,
        {
          table: 'outbox',
          id: 'v',
          key: ['v', 'w'],
          type: 'w',
          payload: 'payload',
          headers: 'headers',
          columns: ['v'],
          snapshotOrder: ['n'],
        },
        events,
      );
      await pipeline.start();
      await insert(db, rows);
      await Promise.race([waitUntil(`all of ${type}`, () => events.length === 4), pipeline.finished]);
      const views = events.map(({ id, key, type: kindOf, payload, payloadText, headers, columns }) => ({
        ...{ id, key, kindOf, payload, payloadText, headers, columns },
      }));
      const sorted = (some: typeof views): typeof views => some.sort((a, b) => (a.id < b.id ? -1 : 1));
      const [before, after] = [sorted(views.slice(0, 2)), sorted(views.slice(2))];
      expect(after, type).toEqual(before);
      expect(new Set(views.map(({ key }) => key)).size, type).toBe(2);
      expect(views[0], type).toMatchObject({ payload: { a: [1.5] }, headers: { h: 'é' } });
      expect(JSON.parse(views[0]?.key ?? ''), type).toEqual([views[0]?.id, views[0]?.kindOf]);
    }
  });

  test('a binary payload is bytes, another one is text or JSON', async () => {
    await using db = await testMysqlDatabase(kind);
    await insert(db, [
      'create table outbox (id int auto_increment primary key, k int, payload blob, t longtext)',
    ]);
    const row = `insert into outbox (k, payload, t) values (1, x'00ff', '{"a": 1}'), (2, null, null), (3, '', '')`;
    await insert(db, [row]);
    const events: OutboxEvent[] = [];
    await using pipeline = valuesPipeline(
      db,
      { table: 'outbox', id: 'id', key: 'k', payload: 'payload' },
      events,
    );
    await pipeline.start();
    await insert(db, [row]);
    await waitUntil('all are handled', () => events.length === 6);
    const payloads = events.map(({ payload }) => payload);
    expect(payloads.slice(0, 3)).toEqual([Buffer.from([0, 255]), null, Buffer.alloc(0)]);
    expect(payloads.slice(3)).toEqual(payloads.slice(0, 3));
  });

  test('columns of any name and place: invisible, generated, odd, in another case', async () => {
    await using db = await testMysqlDatabase(kind);
    await insert(db, [
      `create table \`out ""'box?\` (
         \`__proto__\` int auto_increment primary key, \`Tenant ID\` varchar(9) invisible default 't', \`é"\` int,
         \`0\` varchar(9) as (concat('s', \`é"\`)) stored, \`?\` varchar(9) as (concat('v', \`é"\`)) virtual,
         \`constructor\` int default 7, \`日本\` text)`,
    ]);
    const row = 'insert into `out ""\'box?` (`é"`, `日本`) values (1, \'x\')';
    await insert(db, [row]);
    const columns = ['TENANT id', 'É"', '0', '?', 'constructor', '日本'];
    const events: OutboxEvent[] = [];
    await using pipeline = valuesPipeline(
      db,
      { table: `out ""'box?`, id: '__PROTO__', key: (cells) => cells['Tenant ID'] ?? null, columns },
      events,
    );
    await pipeline.start();
    await insert(db, [row]);
    await Promise.race([waitUntil('both are handled', () => events.length === 2), pipeline.finished]);
    expect(events.map(({ id, key }) => [id, key])).toEqual([
      ['1', 't'],
      ['2', 't'],
    ]);
    const expected = { 'TENANT id': 't', 'É"': '1', '0': 's1', '?': 'v1', constructor: '7', 日本: 'x' };
    expect(events.map((event) => event.columns)).toEqual([expected, expected]);
  });

  test('bytes that are no character of their charset stop the pipeline with the column named', async () => {
    await using db = await testMysqlDatabase(kind);
    await insert(db, [
      'create table outbox (id int auto_increment primary key, k varchar(9) character set cp1251)',
    ]);
    const events: OutboxEvent[] = [];
    await using pipeline = valuesPipeline(db, { table: 'outbox', id: 'id', key: 'k' }, events);
    await pipeline.start();
    await insert(db, ["insert into outbox (k) values ('я')", "insert into outbox (k) values (x'98'), ('я')"]);
    await expect(pipeline.finished).rejects.toMatchObject({
      code: 'MYSQL_DECODE',
      message: expect.stringContaining('column k') as string,
    });
    expect(events.map(({ key }) => key)).toEqual(['я']);
    const snapshot = valuesPipeline(db, { table: 'outbox', id: 'id', key: 'k' }, events);
    await expect(snapshot.start().then(() => snapshot.finished)).rejects.toMatchObject({
      code: 'MYSQL_DECODE',
    });
  });

  test('a column that gets another type or charset while the stream runs is read by what the log says', async () => {
    await using db = await testMysqlDatabase(kind);
    await insert(db, [
      'create table outbox (id int auto_increment primary key, k varchar(30) character set utf8mb4)',
    ]);
    const events: OutboxEvent[] = [];
    await using pipeline = valuesPipeline(db, { table: 'outbox', id: 'id', key: 'k' }, events);
    await pipeline.start();
    await insert(db, [
      "insert into outbox (k) values ('〜')",
      'alter table outbox modify k varchar(30) character set sjis',
      "insert into outbox (k) values ('〜')",
      'alter table outbox add first_of_all int first, modify k varchar(30) character set utf16',
      "insert into outbox (k) values ('〜')",
      'alter table outbox drop k, add k bigint unsigned',
      'insert into outbox (k) values (18446744073709551615)',
    ]);
    await Promise.race([waitUntil('all are handled', () => events.length === 4), pipeline.finished]);
    const keys = events.map(({ key }) => key).sort();
    expect(keys).toEqual(['18446744073709551615', '〜', '〜', '〜']);
  });
});

test('a vector of MySQL, which the library can not skip, stops the pipeline with the column named', async () => {
  await using db = await testMysqlDatabase('mysql');
  await insert(db, [
    'create table outbox (id int auto_increment primary key, k varchar(9), embedding vector(2), w varchar(9))',
  ]);
  const events: OutboxEvent[] = [];
  await using pipeline = valuesPipeline(db, { table: 'outbox', id: 'id', key: 'k' }, events);
  const started = pipeline.start();
  await started.catch(() => undefined);
  await insert(db, ["insert into outbox (k, embedding, w) values ('a', string_to_vector('[1,2]'), 'b')"]);
  await expect(Promise.all([started, pipeline.finished])).rejects.toMatchObject({
    code: 'MYSQL_DECODE',
    message: expect.stringContaining('embedding') as string,
  });
  expect(events).toEqual([]);
});
