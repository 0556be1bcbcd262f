import { setTimeout as sleep } from 'node:timers/promises';
import { queryBytes, queryRows, withSession, type Connector } from './connection.js';
import type { Session } from './session.js';

/** What a session of the server's list is called while its answer does not get through: MySQL, MariaDB. */
const SENDING = new Set(['Sending to client', 'Writing to net']);
/** Looks in a row that find nobody at work: an answer may have left between the first and what was heard before it. */
const LOOKS = 2;

/**
 * Queries that may take as long as they like, since they may have to sort a table, over a session that may die without
 * a word. Each time that nothing has come for `silenceTimeout`, another session asks the server whether it is still at
 * work: what is neither at work nor heard of is lost.
 */
export class PatientQueries {
  readonly #connector: Connector;
  readonly #session: Session;
  readonly #silenceTimeout: number;

  constructor(connector: Connector, session: Session, silenceTimeout: number) {
    this.#connector = connector;
    this.#session = session;
    this.#silenceTimeout = silenceTimeout;
  }

  /** Rows as the bytes that the server sends. Rejects when the session is lost, and has ended it then. */
  async bytes(sql: string): Promise<(Buffer | null)[][]> {
    const over = new AbortController();
    const lost = this.#untilLost(over.signal);
    lost.catch(() => undefined);
    try {
      return await Promise.race([queryBytes(this.#session, sql, Infinity), lost]);
    } finally {
      over.abort();
    }
  }

  async #untilLost(over: AbortSignal): Promise<never> {
    let received = this.#session.received;
    let quietSince = performance.now();
    for (let looks = 0; looks < LOOKS;) {
      await sleep(this.#silenceTimeout / 4, undefined, { signal: over });
      if (this.#session.received !== received) {
        received = this.#session.received;
        quietSince = performance.now();
        looks = 0;
      } else if (performance.now() - quietSince >= this.#silenceTimeout) {
        const atWork = await this.#isAtWork();
        looks = atWork ? 0 : looks + 1;
        if (atWork) quietSince = performance.now();
      }
    }
    this.#session.destroy();
    throw new Error('Connection lost: the server is done, and its answer does not come');
  }

  async #isAtWork(): Promise<boolean> {
    try {
      const sessions = await withSession(this.#connector, (sql) => queryRows(sql, 'show processlist'));
      const ours = sessions.find((session) => Number(session['Id']) === this.#session.id);
      return ours?.['Command'] === 'Query' && !SENDING.has(ours['State'] ?? '');
    } catch (error) {
      // Nobody there for a new connection either.
      this.#session.destroy();
      throw error;
    }
  }
}
