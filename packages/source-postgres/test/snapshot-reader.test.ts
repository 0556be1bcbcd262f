import type pg from 'pg';
import { expect, it } from 'vitest';
import { SnapshotOrder } from '@strandline/source-kit';
import { SnapshotReader } from '../src/snapshot-reader.js';
import { outboxTable } from './outbox.js';

const MIB = 1024 * 1024;

/** A session with `count` rows whose payload has this many bytes; it tells how many were asked for at a time. */
function session(count: number, payloadBytes: number): { sql: pg.Client; fetches: number[] } {
  const payload = 'x'.repeat(payloadBytes);
  const fetches: number[] = [];
  let id = 0;
  const query = (asked: string | { readonly text: string }): Promise<{ rows: (string | null)[][] }> => {
    const text = typeof asked === 'string' ? asked : asked.text;
    const wanted = Number(/^fetch (\d+)/.exec(text)?.[1] ?? 0);
    if (wanted > 0) fetches.push(wanted);
    const rows = Array.from({ length: Math.min(wanted, count - id) }, () => {
      id += 1;
      return [String(id), '700', String(id), 'k', payload];
    });
    return Promise.resolve({ rows });
  };
  return { sql: { query } as unknown as pg.Client, fetches };
}

async function read(sql: pg.Client): Promise<string[]> {
  const column = (name: string, typeName: string): { name: string; typeName: string; typeOid: number } => ({
    name,
    typeName,
    typeOid: 25,
  });
  const reader = new SnapshotReader({
    sql,
    table: {
      oid: 1,
      name: 'public.outbox',
      sqlName: '"public"."outbox"',
      partitioned: false,
      columns: [column('id', 'bigint'), column('key', 'text'), column('payload', 'text')],
    },
    outbox: outboxTable({ payload: 'payload' }),
    nullKey: 'reject',
    after: 'snapshot:start',
    completed: [],
    order: new SnapshotOrder('snapshot:start'),
    resumed: null,
  });
  const ids: string[] = [];
  for await (const events of reader.read()) ids.push(...events.map(({ id }) => id));
  return ids;
}

it('of large rows takes few at a time', async () => {
  const { sql, fetches } = session(300, MIB);
  expect(await read(sql)).toHaveLength(300);
  expect(Math.max(...fetches)).toBeLessThanOrEqual(64);
  expect(Math.max(...fetches.slice(1))).toBeLessThanOrEqual(8);
});

it('of small rows takes many at a time', async () => {
  const { sql, fetches } = session(5_000, 100);
  expect(await read(sql)).toHaveLength(5_000);
  expect(Math.max(...fetches)).toBe(1_000);
});
