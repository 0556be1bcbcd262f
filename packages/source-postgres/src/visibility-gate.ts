import type pg from 'pg';
import type { TransactionContext } from './event.js';
import { TransactionSnapshot } from './transaction-snapshot.js';

/** Waits between questions while a transaction stays invisible, in milliseconds: the last one repeats. */
const PATIENCE = [0, 0, 1, 2, 5, 10, 20, 50, 100];

/**
 * Tells when a transaction in the log can be seen by other sessions. A commit is in the log before it is
 * visible: for some microseconds as a rule, for as long as a synchronous standby takes to answer at worst.
 *
 * One question (`select pg_current_snapshot()`) serves every transaction that was decoded before it was asked,
 * and none is asked while the known snapshot covers what waits.
 */
export class VisibilityGate {
  readonly #sql: pg.Client;
  #snapshot: TransactionSnapshot | null = null;
  #questions = 0;

  constructor(sql: pg.Client) {
    this.#sql = sql;
  }

  /** How many snapshots were asked for: the cost of the gate. */
  get questions(): number {
    return this.#questions;
  }

  readonly isVisible = (context: TransactionContext): boolean => this.#snapshot?.covers(context.xid) ?? false;

  /** Resolves once the transaction is visible; rejects when the session breaks. */
  async untilVisible(context: TransactionContext, signal: AbortSignal): Promise<void> {
    for (let round = 0; !this.isVisible(context) && !signal.aborted; round += 1) {
      const patience = PATIENCE[Math.min(round, PATIENCE.length - 1)] ?? 0;
      if (patience > 0) await new Promise((resolve) => setTimeout(resolve, patience));
      this.#questions += 1;
      const { rows } = await this.#sql.query<{ snapshot: string }>({
        name: 'strandline_snapshot',
        text: 'select pg_current_snapshot()::text as snapshot',
      });
      if (rows[0] !== undefined) this.#snapshot = new TransactionSnapshot(rows[0].snapshot);
    }
  }
}
