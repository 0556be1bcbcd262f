import type { HandlerContext, OutboxEvent } from '@strandline/core';
import type { definePipeline } from '@strandline/pipeline';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { expectTypeOf, it } from 'vitest';
import { batchInbox, inbox } from '../src/index.js';

type Options = Parameters<typeof definePipeline>[0];
const { source, offsets } = {} as Pick<Options, 'source' | 'offsets'>;

it('an effect knows its connection, its event and its context, wherever it is written', () => {
  const postgres = {
    name: 'p',
    source,
    offsets,
    handle: inbox(new pg.Pool(), (tx, event, ctx) => {
      expectTypeOf(tx).toEqualTypeOf<pg.PoolClient>();
      expectTypeOf(event).toEqualTypeOf<OutboxEvent>();
      expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
    }),
  };
  expectTypeOf(postgres).toExtend<Options>();
  const batched = {
    name: 'p',
    source,
    offsets,
    batch: { max: 10 },
    handle: batchInbox(mysql.createPool({}), (tx, events) => {
      expectTypeOf(tx).toEqualTypeOf<mysql.PoolConnection>();
      expectTypeOf(events).toEqualTypeOf<readonly OutboxEvent[]>();
    }),
  };
  expectTypeOf(batched).toExtend<Options>();
  // @ts-expect-error a pipeline with batches takes a handler of batches
  expectTypeOf({ ...batched, handle: postgres.handle }).toExtend<Options>();
});
