import { SNAPSHOT_START, snapshotPosition } from '@strandline/source-kit';
import { describe, expect, it } from 'vitest';
import { parseExecuted, type Flavour } from '../src/gtids.js';
import {
  compareFiles,
  compareLog,
  formatPosition,
  parsePosition,
  WHOLE,
  type LogPosition,
} from '../src/position.js';

const UUID = '3e11fa47-71ca-11e1-9e33-c80aa9429562';
const BASE: Omit<LogPosition, 'kind'> = {
  server: UUID,
  at: { file: 'binlog.000001', offset: 4 },
  ordinal: 1,
  gtid: '',
  executed: '',
  from: null,
};

function position(part: Partial<LogPosition>): LogPosition {
  return { ...BASE, ...part, kind: 'log' };
}

describe('a position reads back as it was written', () => {
  it.each<[string, Partial<LogPosition>]>([
    ['by file', {}],
    ['beyond 4 GiB', { at: { file: 'binlog.000009', offset: 2 ** 33 } }],
    ['of a whole transaction', { ordinal: WHOLE, gtid: `${UUID}:7`, executed: `${UUID}:1-3:5-6` }],
    ['of several servers, with a tag', { gtid: `${UUID}:shop:1`, executed: `${UUID}:1-2:shop:1,${UUID}:3` }],
    ['of MariaDB', { gtid: '0-1-5', executed: '0-1-4,1-2-9', server: 'server_id 1' }],
    ['that resumes before an open XA', { from: { at: { file: 'a:b.1', offset: 9 }, executed: `${UUID}:1` } }],
  ])('%s', (_, part) => {
    expect(parsePosition(formatPosition({ ...BASE, ...part }))).toEqual(position(part));
  });

  it('in the start snapshot', () => {
    expect(parsePosition(SNAPSHOT_START)).toEqual({ kind: 'snapshot', row: null });
    const row = ['42', 'a;b"c', ''];
    expect(parsePosition(snapshotPosition(row))).toEqual({ kind: 'snapshot', row });
  });
});

describe('text that is not ours is refused', () => {
  it.each([
    '',
    'x',
    'a;b;c;d;e;f',
    'u;binlog.1:4;x;;;',
    'u;binlog.1;1;;;',
    '0/16B3748:1',
    'snapshot:',
    'snapshot:[1]',
  ])('%j', (text) => {
    expect(() => parsePosition(text)).toThrow(expect.objectContaining({ code: 'MYSQL_POSITION' }));
  });
});

describe('order', () => {
  it.each<[string, number, string, number]>([
    ['binlog.000001', 500, 'binlog.000002', 4],
    ['binlog.000009', 4, 'binlog.000010', 4],
    ['binlog.999999', 4, 'binlog.1000000', 4],
    ['binlog.000001', 99, 'binlog.000001', 100],
    ['binlog.000001', 2 ** 32, 'binlog.000001', 2 ** 32 + 1],
  ])('%s:%d comes before %s:%d', (file, offset, laterFile, laterOffset) => {
    const [a, b] = [
      { file, offset },
      { file: laterFile, offset: laterOffset },
    ];
    expect(compareFiles(a, b)).toBeLessThan(0);
    expect(compareFiles(b, a)).toBeGreaterThan(0);
    expect(compareFiles(a, a)).toBe(0);
  });

  it.each<[string, Flavour, Partial<LogPosition>, Partial<LogPosition>]>([
    [
      'rows of one transaction',
      'mysql',
      { ordinal: 1, gtid: `${UUID}:5` },
      { ordinal: 2, gtid: `${UUID}:5` },
    ],
    [
      'a row and its whole transaction',
      'mysql',
      { gtid: `${UUID}:5` },
      { ordinal: WHOLE, gtid: `${UUID}:5` },
    ],
    [
      'transactions whose numbers are not in commit order',
      'mysql',
      { gtid: `${UUID}:7`, executed: `${UUID}:1-5` },
      { gtid: `${UUID}:6`, executed: `${UUID}:1-5:7` },
    ],
    [
      'a place, and a transaction behind it',
      'mysql',
      { ordinal: 0, executed: `${UUID}:1-5` },
      { gtid: `${UUID}:6`, executed: `${UUID}:1-5` },
    ],
    [
      'places without a transaction',
      'mysql',
      { ordinal: 0, executed: `${UUID}:1-5` },
      { ordinal: 0, executed: `${UUID}:1-6` },
    ],
    [
      "the beginning of MySQL's log, and its end",
      'mysql',
      { ordinal: 0, executed: '' },
      { ordinal: 0, executed: `${UUID}:1-9` },
    ],
    [
      "the beginning of MariaDB's log, and its end",
      'mariadb',
      { ordinal: 0, executed: '' },
      { ordinal: 0, executed: '0-1-9' },
    ],
    [
      'other files, as after a failover',
      'mysql',
      { gtid: `${UUID}:6`, executed: `${UUID}:1-5`, at: { file: 'z.000009', offset: 9 } },
      { gtid: `${UUID}:7`, executed: `${UUID}:1-6`, at: { file: 'a.000001', offset: 4 } },
    ],
    [
      'domains of MariaDB',
      'mariadb',
      { gtid: '1-1-3', executed: '0-1-9,1-1-2' },
      { gtid: '0-1-10', executed: '0-1-9,1-1-3' },
    ],
    ['files where there are no GTIDs', 'mysql', { ordinal: 9 }, { at: { file: 'binlog.000001', offset: 5 } }],
  ])('%s', (_, flavour, earlier, later) => {
    const set = (text: string): ReturnType<typeof parseExecuted> => parseExecuted(flavour, text);
    const [a, b] = [position(earlier), position(later)];
    expect(compareLog(set, a, b)).toBeLessThan(0);
    expect(compareLog(set, b, a)).toBeGreaterThan(0);
    expect(compareLog(set, a, a)).toBe(0);
  });

  it.each<[string, Flavour, Partial<LogPosition>, string]>([
    ['its set', 'mysql', { gtid: `${UUID}:6`, executed: `${UUID}:1-5` }, `${UUID}:1-6`],
    ['a set that lags', 'mysql', { gtid: `${UUID}:7`, executed: `${UUID}:1-6` }, `${UUID}:1-5:7`],
    [
      'the set of several',
      'mysql',
      { gtid: `${UUID}:shop:2`, executed: `${UUID}:1:shop:1` },
      `${UUID}:1:shop:1-2`,
    ],
    ['its domains', 'mariadb', { gtid: '0-1-10', executed: '0-1-9,1-1-3' }, '0-1-10,1-1-3'],
  ])(
    'the last transaction of all and the end of the log are one place, told by %s',
    (_, flavour, part, executed) => {
      const set = (text: string): ReturnType<typeof parseExecuted> => parseExecuted(flavour, text);
      const [whole, end] = [position({ ...part, ordinal: WHOLE }), position({ ordinal: 0, executed })];
      expect(compareLog(set, whole, end)).toBe(0);
      expect(compareLog(set, end, whole)).toBe(0);
      expect(compareLog(set, position({ ...part, ordinal: 9 }), end)).toBeLessThan(0);
    },
  );

  it('a transaction before the last one lies before the end of the log', () => {
    const set = (text: string): ReturnType<typeof parseExecuted> => parseExecuted('mysql', text);
    const whole = position({ gtid: `${UUID}:5`, executed: `${UUID}:1-4`, ordinal: WHOLE });
    const end = position({ ordinal: 0, executed: `${UUID}:1-6` });
    expect(compareLog(set, whole, end)).toBeLessThan(0);
    expect(compareLog(set, end, whole)).toBeGreaterThan(0);
  });
});
