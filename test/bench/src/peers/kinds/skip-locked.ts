import type { PeerRow } from '../peer.js';
import type { PeerKind } from '../process/kind.js';
import { handleBatch } from './batch.js';
import { onEachRow, withoutTrigger } from './outbox-trigger.js';
import { pollInTransactions } from './polling.js';

const WORKERS = 4;
const BATCH = 100;
const SCHEMA = 'skip_locked';

/**
 * The queue that most would write: workers take the next rows that no other one holds, handle them and delete them, all in
 * one transaction. What is killed is rolled back, so nothing is lost; but two workers can hold rows of one key.
 */
export const skipLocked: PeerKind = {
  name: 'SKIP LOCKED pool',
  goal: null,
  package: null,
  install: async (sql) => {
    await sql.query(`create schema ${SCHEMA};
      create table ${SCHEMA}.queue (id bigint primary key, key text not null, payload text not null);
      ${onEachRow('skip_locked_add', `insert into ${SCHEMA}.queue values (new.id, new.key::text, coalesce(new.payload, ''))`)}`);
  },
  load: async (sql) => {
    await sql.query(`truncate ${SCHEMA}.queue;
      insert into ${SCHEMA}.queue select id, key::text, coalesce(payload, '') from outbox order by id`);
    await sql.query(`vacuum analyze ${SCHEMA}.queue`);
  },
  uninstall: async (sql) => {
    await sql.query(`${withoutTrigger('skip_locked_add')}; drop schema if exists ${SCHEMA} cascade`);
  },
  consume: ({ url }, handle) =>
    pollInTransactions(url, WORKERS, async (client) => {
      const { rows } = await client.query<PeerRow>({
        name: 'next',
        text: `with next as (
            select id from ${SCHEMA}.queue order by id limit ${String(BATCH)} for update skip locked),
          taken as (delete from ${SCHEMA}.queue q using next where q.id = next.id returning q.*)
          select id::text, key, payload from taken order by taken.id`,
      });
      await handleBatch(rows, handle);
      return rows.length;
    }),
};
