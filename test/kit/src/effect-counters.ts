import mysql from 'mysql2/promise';
import pg from 'pg';
import { inbox, type Handler } from 'strandline';
import { waitUntil } from './wait-until.js';

/** A row for each key, which counts the events that took effect. */
const CREATE = 'CREATE TABLE effects (k VARCHAR(64) PRIMARY KEY, n INT NOT NULL)';
const LOOK = 'SELECT k, n FROM effects';

/** What took effect in a database, by key. */
export class EffectCounters {
  readonly #url: string;

  static async create(url: string): Promise<EffectCounters> {
    const counters = new EffectCounters(url);
    await counters.#ask(CREATE);
    return counters;
  }

  private constructor(url: string) {
    this.#url = url;
  }

  async counts(): Promise<Map<string, number>> {
    return new Map((await this.#ask(LOOK)).map(({ k, n }) => [k, n]));
  }

  /** Resolves when so many events have taken effect, or more than that. */
  async until(count: number): Promise<void> {
    const isThere = async (): Promise<boolean> =>
      [...(await this.counts()).values()].reduce((sum, n) => sum + n, 0) >= count;
    await waitUntil(`${String(count)} events have taken effect`, isThere, {
      deadlineMs: 60_000,
      everyMs: 100,
    });
  }

  async #ask(sql: string): Promise<{ k: string; n: number }[]> {
    if (isMysql(this.#url)) {
      const connection = await mysql.createConnection(this.#url);
      try {
        const [rows] = await connection.query<mysql.RowDataPacket[]>(sql);
        return Array.isArray(rows) ? (rows as { k: string; n: number }[]) : [];
      } finally {
        await connection.end();
      }
    }
    const client = new pg.Client(this.#url);
    await client.connect();
    try {
      return (await client.query<{ k: string; n: number }>(sql)).rows;
    } finally {
      await client.end();
    }
  }
}

export interface CountingHandler {
  readonly handle: Handler;
  /** Lets the connections go. */
  end(): Promise<void>;
}

/** Counts the event of a key over an inbox; `then` runs inside the transaction. */
export function countingHandler(url: string, then: Handler): CountingHandler {
  if (isMysql(url)) {
    const pool = mysql.createPool(url);
    const count = 'INSERT INTO effects (k, n) VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1';
    const handle = inbox(pool, async (tx, event, ctx) => {
      await tx.query(count, [event.key]);
      await then(event, ctx);
    });
    return { handle, end: () => pool.end() };
  }
  const pool = new pg.Pool({ connectionString: url });
  // The server may end idle connections: the next effect makes new ones.
  pool.on('error', () => undefined);
  const count = 'INSERT INTO effects (k, n) VALUES ($1, 1) ON CONFLICT (k) DO UPDATE SET n = effects.n + 1';
  const handle = inbox(pool, async (tx, event, ctx) => {
    await tx.query(count, [event.key]);
    await then(event, ctx);
  });
  return { handle, end: () => pool.end() };
}

function isMysql(url: string): boolean {
  return url.startsWith('mysql:');
}
