import pg from 'pg';
import type { PeerRow } from '../peer.js';
import type { PeerKind } from '../process/kind.js';
import { handleBatch } from './batch.js';
import { poll } from './polling.js';

const BATCH = 1_000;

/**
 * Remembers the highest id that it has handled, and asks for those above it. What commits later with a lower id is never
 * seen: ids are given when a row is inserted, and not when it commits. The fault that Strandline exists for; here as the
 * bound of what a poller can do.
 */
export const idCursor: PeerKind = {
  name: 'id cursor',
  goal: null,
  package: null,
  install: async (sql) => {
    await sql.query(`create schema id_cursor; create table id_cursor.place (last bigint not null);
      insert into id_cursor.place values (0)`);
  },
  load: async (sql) => {
    await sql.query('update id_cursor.place set last = 0');
  },
  uninstall: async (sql) => {
    await sql.query('drop schema if exists id_cursor cascade');
  },
  consume: async ({ url }, handle) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows: places } = await client.query<{ last: string }>('select last from id_cursor.place');
    let last = places[0]?.last ?? '0';
    const loop = poll([
      async () => {
        const { rows } = await client.query<PeerRow>({
          name: 'next',
          text: `select id::text, key::text, coalesce(payload, '') as payload from outbox
            where id > $1 order by outbox.id limit ${String(BATCH)}`,
          values: [last],
        });
        await handleBatch(rows, handle);
        last = rows.at(-1)?.id ?? last;
        if (rows.length > 0) await client.query('update id_cursor.place set last = $1', [last]);
        return rows.length;
      },
    ]);
    return {
      async stop() {
        await loop.stop();
        await client.end();
      },
    };
  },
};
