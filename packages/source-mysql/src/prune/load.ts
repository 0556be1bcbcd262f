import type { ReplicaLag, ServerLoad } from '@strandline/core';
import { connectionOf } from '../config.js';
import { createConnector, queryRows, type Connector, type Timeouts } from '../connection.js';
import type { Session } from '../session.js';

/** MariaDB's for all of its sources, MySQL's from 8.0.22 on, and the one before. */
const STATEMENTS = ['show all slaves status', 'show replica status', 'show slave status'] as const;

/** A replica, asked over a session that is kept. */
class Replica {
  readonly #connector: Connector;
  #session: Session | null = null;

  constructor(url: string, timeouts: Timeouts, signal: AbortSignal) {
    this.#connector = createConnector(connectionOf(url), timeouts, signal);
  }

  /** One that can't be asked, or does not follow, may be any distance behind. */
  async lag(): Promise<ReplicaLag> {
    const name = this.#connector.target;
    try {
      this.#session ??= await this.#connector.connect();
      return { name, time: await secondsBehind(this.#session), bytes: null };
    } catch {
      this.close();
      return { name, time: null, bytes: null };
    }
  }

  close(): void {
    this.#session?.destroy();
    this.#session = null;
  }
}

/** In milliseconds; of several sources the furthest. */
async function secondsBehind(session: Session): Promise<number | null> {
  for (const statement of STATEMENTS) {
    const rows = await queryRows(session, statement).catch(() => null);
    if (rows === null) continue;
    const behind = rows.map((row) => row['Seconds_Behind_Source'] ?? row['Seconds_Behind_Master'] ?? null);
    if (behind.length === 0 || behind.includes(null)) return null;
    return Math.max(...behind.map(Number)) * 1_000;
  }
  return null;
}

export class Load {
  readonly #sql: Session;
  readonly #replicas: readonly Replica[];

  constructor(sql: Session, urls: readonly string[], timeouts: Timeouts, signal: AbortSignal) {
    this.#sql = sql;
    this.#replicas = urls.map((url) => new Replica(url, timeouts, signal));
  }

  async look(): Promise<ServerLoad> {
    const [running] = await queryRows(this.#sql, "show global status like 'Threads_running'");
    const replicas = await Promise.all(this.#replicas.map((replica) => replica.lag()));
    // One of them is this session.
    return { active: Math.max(0, Number(running?.['Value'] ?? 1) - 1), replicas };
  }

  close(): void {
    for (const replica of this.#replicas) replica.close();
  }
}
