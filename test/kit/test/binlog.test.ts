import { describe, expect, test } from 'vitest';
import { BinlogEvents, type BinlogTable } from '../src/checker/binlog-events.js';
import { BinlogTransactions } from '../src/checker/binlog-transactions.js';

/** An event as the tool prints it: its head, and the lines under it. */
function event(type: string, ...lines: readonly string[]): string[] {
  return [
    `# at 4`,
    `#261130 22:18:49 server id 7  end_log_pos ${String((end += 10))} CRC32 0x18e05a67 \t${type}`,
    ...lines,
  ];
}
let end = 0;

const begin = (gtid: string): string[] => [
  ...event('GTID\tlast_committed=0\tsequence_number=1', `SET @@SESSION.GTID_NEXT= '${gtid}'/*!*/;`),
  ...statement('BEGIN'),
];
const statement = (text: string): string[] =>
  event('Query\tthread_id=11\texec_time=0\terror_code=0', 'SET TIMESTAMP=1796077129/*!*/;', text, '/*!*/;');
const tableMap = event(
  'Table_map: `shop`.`outbox` mapped to number 109',
  '# has_generated_invisible_primary_key=0',
  '# Columns(`key` VARCHAR(255) NOT NULL CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci,',
  '#         `n``1` INT,',
  '#         `id` BIGINT NOT NULL)',
  '# Primary Key(id)',
);
const insert = (id: string, key: string, table = 'outbox'): string[] =>
  event(
    'Write_rows: table id 109 flags: STMT_END_F',
    `### INSERT INTO \`shop\`.\`${table}\``,
    '### SET',
    `###   @1=${key}`,
    '###   @2=NULL',
    `###   @3=${id}`,
  );
const commit = event('Xid = 12', 'COMMIT/*!*/;');

function read(kind: BinlogTable['kind'], ...lines: readonly string[]): BinlogTransactions {
  const transactions = new BinlogTransactions(4, new Map());
  const events = new BinlogEvents({ kind, database: 'shop', table: 'outbox' }, (one) => {
    transactions.take(one);
  });
  for (const line of lines) events.line(line);
  events.end();
  return transactions;
}

const ids = ({ committed }: BinlogTransactions): string[] => committed.map(({ id }) => id);

describe('a binlog as text', () => {
  test('has the rows of the outbox at their commit, by the names of the columns', () => {
    const transactions = read(
      'mysql',
      ...begin('u:1'),
      ...tableMap,
      ...insert('1', "'a'"),
      ...insert('2', "'b'"),
      ...insert('3', "'c'", 'orders'),
      // So the server tells of a row of a partitioned table.
      '### Extra row info for partitioning: partition: 0',
      ...commit,
    );
    expect(transactions.committed).toEqual([
      { id: '1', key: 'a', transaction: 'u:1' },
      { id: '2', key: 'b', transaction: 'u:1' },
    ]);
    expect(
      ids(read('mysql', ...begin('u:1'), ...tableMap, ...insert('1', "'a'"), ...statement('ROLLBACK'))),
    ).toEqual([]);
    expect(ids(read('mysql', ...begin('u:1'), ...tableMap, ...insert('1', "'a'")))).toEqual([]);
  });

  test('is read on behind the last transaction that is whole', () => {
    const whole = [...begin('u:1'), ...tableMap, ...insert('1', "'a'"), ...commit];
    const before = read('mysql', ...whole).offset;
    expect(read('mysql', ...whole, ...begin('u:2'), ...insert('2', "'b'")).offset).toBe(before);
    expect(
      read(
        'mysql',
        ...event('Start: binlog v 4').map((line) => line.replace(/end_log_pos \d+/, 'end_log_pos 0')),
      ).offset,
    ).toBe(4);
  });

  test('has MySQL’s escapes and MariaDB’s', () => {
    const keyOf = (kind: BinlogTable['kind'], key: string): string | undefined =>
      read(kind, ...begin('u:1'), ...tableMap, ...insert('1', key), ...commit).committed[0]?.key;
    expect(keyOf('mysql', String.raw`'it\'s \\ \"q\" \n\t\r\x01'`)).toBe('it\'s \\ "q" \n\t\r\x01');
    expect(keyOf('mariadb', String.raw`'it's \ \n "q" \x0a\x09'`)).toBe('it\'s \\ \\n "q" \n\t');
    expect(() => keyOf('mysql', String.raw`'\q'`)).toThrow('an escape that is not known');
  });

  test('has what savepoints undo, where it could not be cut out', () => {
    const lines = [
      ...[
        ...begin('u:1'),
        ...tableMap,
        ...insert('1', "'a'"),
        ...statement('SAVEPOINT `s`'),
        ...insert('2', "'a'"),
      ],
      ...[
        ...statement('SAVEPOINT `t`'),
        ...insert('3', "'a'"),
        ...statement('ROLLBACK TO `s`'),
        ...insert('4', "'a'"),
      ],
      ...commit,
    ];
    expect(ids(read('mysql', ...lines))).toEqual(['1', '4']);
  });

  test('has DDL as transactions by itself', () => {
    const gtid = event('GTID 0-7-5 ddl thread_id=7', '/*M!100001 SET @@session.gtid_seq_no=2*//*!*/;');
    const lines = [
      ...gtid,
      ...statement('ALTER TABLE outbox\nADD COLUMN extra int'),
      ...gtid,
      ...statement('TRUNCATE TABLE outbox'),
    ];
    expect(ids(read('mariadb', ...lines))).toEqual([]);
  });

  test.each([
    ['an event of another kind', event('Write_cows: table id 109'), 'does not know: Write_cows'],
    [
      'a row outside of a transaction',
      [...tableMap, ...insert('1', "'a'")],
      'outside of a transaction: a row',
    ],
    ['a transaction in a transaction', [...begin('u:1'), ...begin('u:2')], 'u:2 begins inside u:1'],
    ['a transaction without a name', event('GTID\tlast_committed=0'), 'a transaction without a name'],
    ['a statement without an end', event('Query\tthread_id=11', 'BEGIN'), 'a statement without an end'],
    [
      'a row without its column names',
      [...begin('u:1'), ...insert('1', "'a'")],
      'A row of the outbox has no id',
    ],
    [
      'a row without a key',
      [...begin('u:1'), ...tableMap, ...insert('1', 'NULL')],
      'A row of the outbox has no key: NULL',
    ],
    [
      'a line that is no column',
      [...begin('u:1'), ...tableMap, ...insert('1', "'a'"), 'what?'],
      'among its rows: what?',
    ],
  ])('%s is an error', (_, lines, words) => {
    expect(() => read('mysql', ...lines)).toThrow(words);
  });
});
