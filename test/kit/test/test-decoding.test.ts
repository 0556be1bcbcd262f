import { describe, expect, test } from 'vitest';
import { readTestDecoding } from '../src/checker/test-decoding.js';

const columnsOf = (line: string): Record<string, string | null> => {
  const read = readTestDecoding(line, 'public.outbox');
  if (read.what !== 'insert') throw new Error(`it was taken for ${read.what}`);
  return Object.fromEntries(read.columns);
};

describe('what test_decoding says', () => {
  test('of transactions, and of what is no insert of the outbox', () => {
    const read = (line: string): unknown => readTestDecoding(line, 'public.outbox');
    expect(read('BEGIN 693')).toEqual({ what: 'begin', xid: '693' });
    expect(read('COMMIT 693')).toEqual({ what: 'commit', xid: '693' });
    for (const line of [
      'table public.orders: INSERT: id[integer]:1',
      'table public."out: box": INSERT: id[integer]:1',
      "table public.outbox: UPDATE: id[bigint]:1 key[text]:'a' payload[text]:unchanged-toast-datum",
      'table public.outbox: DELETE: id[bigint]:1',
      'table public.outbox, public.orders: TRUNCATE: (no-flags)',
      'message: transactional: 1 prefix: outbox, sz: 5 content:BEGIN',
    ])
      expect(read(line), line).toEqual({ what: 'other' });
  });

  test('of an insert: each column, whatever its name, type and value', () => {
    const line =
      `table public.outbox: INSERT: id[bigint]:-42 key[text]:'it''s''' "a ""b"""[character varying]:'two\nlines ' ` +
      `tags[text[]]:'{a,b}' bits[bit(3)]:B'101' n[numeric]:12.50 ok[boolean]:true kind["my [type]"]:'x' ` +
      `payload[text]:null empty[text]:'' last[timestamp with time zone]:'2026-01-01 00:00:00+00'`;
    expect(columnsOf(line)).toEqual({
      id: '-42',
      key: "it's'",
      'a "b"': 'two\nlines ',
      tags: '{a,b}',
      bits: '101',
      n: '12.50',
      ok: 'true',
      kind: 'x',
      payload: null,
      empty: '',
      last: '2026-01-01 00:00:00+00',
    });
  });

  test('of a text that looks like columns, or is huge', () => {
    const tricky = `' payload[text]:null key[text]:'`;
    const huge = `${'x'.repeat(3_000_000)}${"'".repeat(100_000)}`;
    const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
    const line = `table public.outbox: INSERT: id[bigint]:1 key[text]:${quoted(tricky)} payload[text]:${quoted(huge)}`;
    expect(columnsOf(line)).toEqual({ id: '1', key: tricky, payload: huge });
  });

  test.each([
    ['another word', 'STREAM 693'],
    ['a transaction without a number', 'COMMIT'],
    ['another action', 'table public.outbox: UPSERT: id[bigint]:1'],
    ['a row without columns', 'table public.outbox: INSERT: (no-tuple-data)'],
    ['a column without a type', 'table public.outbox: INSERT: id:1'],
    ['a value without an end', "table public.outbox: INSERT: id[bigint]:1 key[text]:'a''"],
    ['a column without a value', 'table public.outbox: INSERT: id[bigint]: key[text]:null'],
    ['something behind a value', "table public.outbox: INSERT: key[text]:'a'b"],
  ])('%s is an error', (_, line) => {
    expect(() => readTestDecoding(line, 'public.outbox')).toThrow(/^test_decoding /);
  });
});
