import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Background } from './background.js';
import { openPool } from './database.js';

export interface IdCursorOptions {
  readonly url: string;
  readonly everyMs: number;
}

interface OutboxRow {
  readonly id: string;
  readonly order_id: string;
}

/**
 * The outbox reader that most services begin with. It remembers the highest id that it has seen and asks for what
 * lies above. Nothing is wrong with the query; the ids just don't say in which order transactions commit.
 */
export class IdCursor {
  readonly polling: Background;
  #highestId = '0';
  #seen = 0;

  constructor({ url, everyMs }: IdCursorOptions) {
    this.polling = new Background(async (stopping) => {
      const pool = openPool(url, 'id cursor', 1);
      try {
        while (!stopping.aborted) {
          await this.#poll(pool);
          await delay(everyMs, undefined, { signal: stopping }).catch(() => undefined);
        }
        // Once more, so that no row is called missed that it only had not got to yet.
        await this.#poll(pool);
      } finally {
        await pool.end();
      }
    });
  }

  get highestId(): string {
    return this.#highestId;
  }

  get seen(): number {
    return this.#seen;
  }

  async #poll(pool: pg.Pool): Promise<void> {
    const { rows } = await pool.query<OutboxRow>(
      'SELECT id, order_id FROM outbox WHERE id > $1 ORDER BY id',
      [this.#highestId],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    await pool.query(
      'INSERT INTO polled (outbox_id, order_id) SELECT * FROM unnest($1::bigint[], $2::bigint[])',
      [rows.map((row) => row.id), rows.map((row) => row.order_id)],
    );
    this.#highestId = last.id;
    this.#seen += rows.length;
  }
}
