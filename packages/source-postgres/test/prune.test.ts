import type { Offset } from '@strandline/core';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { pipelinesBehind, relationOf, slotsBehind } from '../src/prune/held-back.js';
import { placeOfEnd } from '../src/prune/log-end.js';
import { upperBound } from '../src/prune/partitions.js';
import { ageTest } from '../src/prune/row-time.js';
import { Rows } from '../src/prune/rows.js';

const server = { system: '7', database: 'shop' };
const identity = {
  source: 'postgres',
  ...server,
  ...{ table: 'public.outbox', tableOid: '16384', slot: 's', timeline: '1' },
};
const tables = {
  names: new Set(['public.outbox', 'public.outbox_old']),
  oids: new Set(['16384', '16390']),
};
const here = { ...server, tables };

describe('whose outbox it is', () => {
  it.each([
    ['its own', identity, 'reads'],
    ['under a former name', { ...identity, table: 'public.events' }, 'reads'],
    ['made anew under the name', { ...identity, tableOid: '2' }, 'reads'],
    ['a partition of it', { ...identity, table: 'public.outbox_old', tableOid: '16390' }, 'reads'],
    ['that partition under a former name', { ...identity, table: 'public.o', tableOid: '16390' }, 'reads'],
    ['another table', { ...identity, table: 'public.events', tableOid: '2' }, 'other'],
    ['no table', { ...identity, table: '', tableOid: '' }, 'other'],
    ['of another server', { ...identity, system: '8' }, 'other'],
    ['of another database', { ...identity, database: 'bank' }, 'other'],
    ['of another kind', { source: 'mysql', table: 'shop.outbox' }, 'other'],
    ['of an older release', { source: 'postgres', system: '7', database: 'shop', slot: 's' }, 'unknown'],
    ['of nobody known', {}, 'unknown'],
  ])('%s', (_, saved, expected) => {
    expect(relationOf(saved as Record<string, string>, here)).toBe(expected);
  });
});

describe('a pipeline has settled what lies before 0/100', () => {
  const now = { end: 0x200n, timeline: 1 };
  const at = (watermark: string, change = {}): Offset => ({
    ...{ identity: { ...identity, ...change }, watermark, completed: [] },
    ...{ epoch: 1, revision: 1, savedAt: '' },
  });
  it.each([
    ['at the end', at('0/100:0'), null],
    ['in a transaction that commits there', at('0/100:1'), null],
    ['behind it', at('0/1FF:3'), null],
    ['not in one that commits before', at('0/FF:9'), 'it has to come to 0/100:0'],
    ['not in the start snapshot', at('snapshot:["9"]'), 'reading the rows'],
    ['not before the first row of that', at('snapshot:start'), 'reading the rows'],
    ['not ahead of the log', at('0/201:0'), 'lies ahead of the log'],
    ['not on another timeline', at('0/150:0', { timeline: '2' }), 'timeline 2'],
    ['not when it does not say of which table', at('0/150:0', { table: undefined }), 'which table'],
  ])('%s', (_, offset, expected) => {
    const [held] = pipelinesBehind('0/100:0', [{ pipeline: 'p', offset }], now);
    if (expected === null) expect(held).toBeUndefined();
    else expect(held).toMatchObject({ who: 'pipeline p', why: expect.stringContaining(expected) as string });
  });

  it('and so has another slot', () => {
    const slot = { name: 'd', confirmed: 0x100n, lost: false };
    expect(slotsBehind('0/100:0', [slot])).toEqual([]);
    expect(slotsBehind('0/100:0', [{ ...slot, confirmed: 0xffn }])[0]).toMatchObject({
      who: 'slot d',
      at: '0/FF',
    });
    expect(slotsBehind('0/100:0', [{ ...slot, confirmed: null }]).length).toBe(1);
    expect(slotsBehind('0/100:0', [{ ...slot, lost: true }])[0]?.why).toContain('invalidated');
  });
});

describe('a look that takes longer than a statement may', () => {
  const table = {
    ...{ oid: 1, name: 'public.outbox', sqlName: '"public"."outbox"', partitioned: false },
    columns: [{ name: 'created_at', typeOid: 1184, typeName: 'timestamp with time zone' }],
  };
  const age = ageTest({ createdAt: null, keep: 1 }, table, []);
  const query = (asked: string | object): Promise<unknown> =>
    typeof asked === 'string'
      ? Promise.resolve({ rows: [{ now: '5' }] })
      : Promise.reject(Object.assign(new Error('canceling statement'), { code: '57014' }));
  const sql = { query } as unknown as pg.Client;
  it.each([
    [false, 'create index concurrently on "public"."outbox" ("created_at");'],
    [true, 'vacuum "public"."outbox";'],
  ])('says what helps; with an index: %s', async (byAge, remedy) => {
    const rows = new Rows({ sql, table, key: [{ name: 'id', type: 'bigint' }], age, byAge }, 1);
    await expect(rows.look(null, 10)).rejects.toMatchObject({
      code: 'PG_PRUNE_SLOW',
      remedy: expect.stringContaining(remedy) as string,
    });
  });
});

it.each([
  ['behind a page header', 0x2018n, 0x2000n],
  ['behind the header of a file', 0x1000028n, 0x1000000n],
  ['at the start of a page', 0x2000n, 0x2000n],
  ['behind the rest of a record', 0x2028n, 0x2000n],
  ['behind a record', 0x2030n, 0x2030n],
])('the end of the log %s', (_, inserted, end) => {
  expect(placeOfEnd(inserted)).toBe(end);
});

it.each([
  ["FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-02-01 00:00:00+00')", '2026-02-01 00:00:00+00'],
  ["FOR VALUES FROM (MINVALUE) TO ('100')", '100'],
  ["FOR VALUES FROM ('100') TO (MAXVALUE)", null],
  ["FOR VALUES FROM ('1', 2) TO ('3', 4)", null],
  ['DEFAULT', null],
])('the upper bound of %s', (bound, expected) => {
  expect(upperBound(bound)).toBe(expected);
});
