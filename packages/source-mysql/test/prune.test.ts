import { describe, expect, it } from 'vitest';
import { fileOf, notSettled, relationOf } from '../src/prune/held-back.js';
import { withoutOwners } from '../src/prune/log-end.js';
import { upperBound } from '../src/prune/partitions.js';
import { literalOf, textOf } from '../src/prune/row-key.js';
import { WHOLE } from '../src/position.js';

const A = '3e11fa47-71ca-11e1-9e33-c80aa9429562';
const B = '4e11fa47-71ca-11e1-9e33-c80aa9429562';
const identity = { source: 'mysql', flavour: 'mysql', server: A, table: 'shop.outbox' };
const mysqlPlace = { flavour: 'mysql', server: A, table: 'shop.outbox', gtids: true } as const;
const mariadbPlace = { ...mysqlPlace, flavour: 'mariadb' } as const;
const filesPlace = { ...mysqlPlace, gtids: false };

function place(executed: string, file = 'binlog.000002', offset = 100): Parameters<typeof notSettled>[0] {
  return { at: { file, offset }, executed };
}

describe('whose outbox it is', () => {
  it.each([
    ['its own', {}, mysqlPlace, 'reads'],
    ['in other letters', { table: 'Shop.Outbox' }, mysqlPlace, 'reads'],
    ['read from a replica', { server: B }, mysqlPlace, 'reads'],
    ['on another server, without GTIDs', { server: B }, filesPlace, 'other'],
    ['another table', { table: 'shop.events' }, mysqlPlace, 'other'],
    ['of another kind of server', { flavour: 'mariadb' }, mysqlPlace, 'other'],
    ['of Postgres', { source: 'postgres' }, mysqlPlace, 'other'],
  ])('%s', (_, change, here, expected) => {
    expect(relationOf({ ...identity, ...change }, here)).toBe(expected);
  });

  it('is not known of an offset that does not say it', () => {
    expect(relationOf({}, mysqlPlace)).toBe('unknown');
    expect(relationOf({ source: 'mysql' }, mysqlPlace)).toBe('unknown');
  });
});

describe('a pipeline has settled', () => {
  const at = (ordinal: number, gtid: string, executed: string, server = A): string =>
    `${server};binlog.000002:50:7;${String(ordinal)};${gtid};${executed};`;
  it.each([
    ['all behind the last transaction', mysqlPlace, at(WHOLE, `${A}:10`, `${A}:1-9`), null],
    ['not with a row of the last one', mysqlPlace, at(1, `${A}:10`, `${A}:1-9`), 'has to come to'],
    ['with a row of the next one', mysqlPlace, at(1, `${A}:11`, `${A}:1-10`), null],
    ['not with a hole', mysqlPlace, at(WHOLE, `${A}:10`, `${A}:1-8`), 'has to come to'],
    ['not ahead of the log', mysqlPlace, at(WHOLE, `${A}:13`, `${A}:1-12`), 'ahead of the log'],
    ['not in the start snapshot', mysqlPlace, 'snapshot:start', 'reading the rows'],
    ['on a replica', mysqlPlace, at(WHOLE, `${A}:10`, `${A}:1-9`, B), null],
    ['not on a replica that is behind', mysqlPlace, at(WHOLE, `${A}:9`, `${A}:1-8`, B), 'has to come to'],
    ['what it has to, on a server with nothing in common', mysqlPlace, at(1, `${B}:2`, `${B}:1`, B), null],
    ['not where its place tells nothing', mysqlPlace, at(0, '', '', B), 'has to come to'],
    [
      'not on a server that another one of its domain took over from',
      mariadbPlace,
      at(WHOLE, '0-9-8', '0-9-7', B),
      'has to come to',
    ],
    [
      'not ahead of a server of its domain',
      mariadbPlace,
      at(WHOLE, '0-9-12', '0-9-11', B),
      'ahead of the log',
    ],
    ['what it has to, in another domain', mariadbPlace, at(WHOLE, '7-1-8', '7-1-7', B), null],
    ['all on MariaDB', mariadbPlace, at(WHOLE, '0-1-10', '0-1-9'), null],
    ['not with a row of the last one on MariaDB', mariadbPlace, at(1, '0-1-10', '0-1-9'), 'has to come to'],
    ['in files: at the end', filesPlace, `${A};binlog.000002:100;0;;;`, null],
    ['in files: not before', filesPlace, `${A};binlog.000002:99;${String(WHOLE)};;;`, 'has to come to'],
    ['in files: not ahead', filesPlace, `${A};binlog.000003:4;0;;;`, 'ahead of the log'],
  ])('%s', (_, here, watermark, expected) => {
    const server = watermark.startsWith(B) ? B : A;
    const executed = here.flavour === 'mariadb' ? ['0-1-10', '0-1-11'] : [`${A}:1-10`, `${A}:1-12`];
    const [end, now] = here.gtids
      ? executed.map((one) => place(one))
      : [place(''), place('', 'binlog.000002', 150)];
    const why = notSettled(
      end ?? place(''),
      { identity: { ...identity, server }, watermark },
      here,
      now ?? place(''),
      false,
    );
    if (expected === null) expect(why).toBeNull();
    else expect(why).toContain(expected);
  });

  it('elsewhere: then it has not here, where it is named', () => {
    const offset = { identity: { ...identity, server: B }, watermark: at(WHOLE, `${B}:2`, `${B}:1`, B) };
    const now = place(`${A}:1-12`);
    expect(notSettled(now, offset, mysqlPlace, now, false)).toBeNull();
    expect(notSettled(now, offset, mysqlPlace, now, true)).toMatch(/another topology.*Start it afresh/);
  });

  it('and its file is compared with that of its server', () => {
    expect(fileOf(at(1, `${A}:1`, ''), A)).toEqual({ file: 'binlog.000002', begun: 7 });
    expect(fileOf(at(1, `${A}:1`, '', B), A)).toBeNull();
    expect(fileOf('snapshot:start', A)).toBeNull();
  });
});

it.each([
  ['', ''],
  [`${A}:23#7`, `${A}:23`],
  [`${A}:23#7:24#9,\n${B}:tag:1#12`, `${A}:23:24,${B}:tag:1`],
])('what is owned, without its owners: %s', (owned, expected) => {
  expect(withoutOwners(owned)).toBe(expected);
});

it.each([
  ['RANGE COLUMNS', '`created_at`', "'2026-01-01'", Date.UTC(2026, 0, 1)],
  ['RANGE COLUMNS', '`created_at`', "'2026-01-01 06:00:00'", Date.UTC(2026, 0, 1, 6)],
  ['RANGE', 'to_days(`created_at`)', '739982', Date.UTC(2026, 0, 1)],
  ['RANGE', 'unix_timestamp(`created_at`)', '1767225600', Date.UTC(2026, 0, 1)],
  ['RANGE', '`created_at`', '1767225600000', Date.UTC(2026, 0, 1)],
  ['RANGE', '`created_at`', 'MAXVALUE', null],
  ['RANGE', '`id`', '5', null],
  ['RANGE', 'year(`created_at`)', '2026', null],
  ['HASH', '`created_at`', null, null],
])('the upper bound of %s %s %s', (method, expression, bound, expected) => {
  expect(upperBound({ method, expression, bound }, 'created_at')).toBe(expected);
});

it.each([
  ['bigint unsigned', Buffer.from('18446744073709551615'), '18446744073709551615'],
  ['varchar(9)', Buffer.from("it's"), "'it''s'"],
  ['binary(2)', Buffer.from([0, 255]), "X'00ff'"],
  ['int', Buffer.from('1 or 1'), "'1 or 1'"],
])('a key of the type %s in SQL', (type, bytes, expected) => {
  expect(literalOf(textOf(bytes, type), type)).toBe(expected);
});
