import type { PeerRow } from '../peer.js';
import type { PeerKind } from '../process/kind.js';
import { handleBatch } from './batch.js';
import { onEachRow, withoutTrigger } from './outbox-trigger.js';
import { pollInTransactions } from './polling.js';

const WORKERS = 4;
const SCHEMA = 'skip_locked_keys';

/** Keys that a worker holds at once, and the most rows of each that it takes with them. */
interface Batch {
  readonly keys: number;
  readonly rowsOfAKey: number;
}

/**
 * The best that we can write with SKIP LOCKED alone: workers lock keys and not rows, and only then look for the rows, in a
 * statement of its own (it has to see what the key's last holder has deleted). So no two workers ever have one key. The
 * order within it is that of the ids: who commits late with a lower id comes too late.
 */
const skipLockedWith = (name: string, goal: number | null, { keys, rowsOfAKey }: Batch): PeerKind => ({
  name,
  goal,
  package: null,
  install: async (sql) => {
    await sql.query(`create schema ${SCHEMA};
      create table ${SCHEMA}.queue (id bigint not null, key text not null, payload text not null, primary key (key, id));
      create table ${SCHEMA}.keys (key text primary key);
      ${onEachRow(
        'skip_locked_keys_add',
        `insert into ${SCHEMA}.keys values (new.key::text) on conflict do nothing;
         insert into ${SCHEMA}.queue values (new.id, new.key::text, coalesce(new.payload, ''))`,
      )}`);
  },
  load: async (sql) => {
    await sql.query(`truncate ${SCHEMA}.queue, ${SCHEMA}.keys;
      insert into ${SCHEMA}.keys select distinct key::text from outbox;
      insert into ${SCHEMA}.queue select id, key::text, coalesce(payload, '') from outbox order by id`);
    await sql.query(`vacuum analyze ${SCHEMA}.queue, ${SCHEMA}.keys`);
  },
  uninstall: async (sql) => {
    await sql.query(`${withoutTrigger('skip_locked_keys_add')}; drop schema if exists ${SCHEMA} cascade`);
  },
  consume: ({ url }, handle) =>
    pollInTransactions(url, WORKERS, async (client) => {
      const { rows: locked } = await client.query<{ key: string }>({
        name: 'keys',
        text: `select key from ${SCHEMA}.keys k where exists (select from ${SCHEMA}.queue q where q.key = k.key)
          limit ${String(keys)} for update skip locked`,
      });
      const { rows } = await client.query<PeerRow>({
        name: 'rows',
        text: `select q.id::text, q.key, q.payload from unnest($1::text[]) as k (key),
          lateral (select * from ${SCHEMA}.queue q where q.key = k.key order by q.id limit ${String(rowsOfAKey)}) q`,
        values: [locked.map(({ key }) => key)],
      });
      await handleBatch(rows, handle);
      await client.query({
        name: 'delete',
        text: `delete from ${SCHEMA}.queue q using unnest($1::text[], $2::bigint[]) as done (key, id)
          where q.key = done.key and q.id = done.id`,
        values: [rows.map(({ key }) => key), rows.map(({ id }) => id)],
      });
      return rows.length;
    }),
});

export const skipLockedKeys = skipLockedWith('SKIP LOCKED pool with key lock', 5, {
  keys: 100,
  rowsOfAKey: 10,
});

/** And what it costs that nothing but the row in hand is done again after a crash. */
export const skipLockedRow = skipLockedWith('SKIP LOCKED pool with key lock, a row at a time', null, {
  keys: 1,
  rowsOfAKey: 1,
});
