import { queryRows } from './connection.js';
import type { TransactionContext } from './event.js';
import { parseExecuted, type Executed } from './gtids.js';
import { mariadbPosition, type ServerFacts } from './server.js';
import type { Session } from './session.js';

/** Waits between questions while a transaction stays invisible, in milliseconds: the last one repeats. */
const PATIENCE = [0, 0, 1, 2, 5, 10, 20, 50, 100];

/**
 * Tells when a transaction in the log can be seen by other sessions. The dump can deliver it before.
 *
 * MySQL adds a GTID to `gtid_executed` once the transaction has committed in the engine. MariaDB moves its GTID
 * position before that; there a consistent snapshot says up to where of the log it sees.
 */
export class VisibilityGate {
  readonly #sql: Session;
  readonly #facts: ServerFacts;
  #visible: Executed | null = null;
  #questions = 0;

  constructor(sql: Session, facts: ServerFacts) {
    this.#sql = sql;
    this.#facts = facts;
  }

  /** How often the server was asked: the cost of the gate. */
  get questions(): number {
    return this.#questions;
  }

  readonly isVisible = (context: TransactionContext): boolean => this.#visible?.contains(context.id) ?? false;

  /** Resolves once the transaction is visible; rejects when the session breaks. */
  async untilVisible(context: TransactionContext, signal: AbortSignal): Promise<void> {
    for (let round = 0; !this.isVisible(context) && !signal.aborted; round += 1) {
      const patience = PATIENCE[Math.min(round, PATIENCE.length - 1)] ?? 0;
      if (patience > 0) await new Promise((resolve) => setTimeout(resolve, patience));
      this.#questions += 1;
      this.#visible = parseExecuted(this.#facts.flavour, await this.#ask());
    }
  }

  async #ask(): Promise<string> {
    if (this.#facts.flavour === 'mysql') {
      const [row] = await queryRows(this.#sql, 'select @@global.gtid_executed as executed');
      return row?.['executed'] ?? '';
    }
    return consistentPosition(this.#sql);
  }
}

/** MariaDB's GTID position that belongs to a consistent snapshot, taken and let go. */
export async function consistentPosition(sql: Session): Promise<string> {
  await sql.run('start transaction with consistent snapshot, read only');
  try {
    const rows = await queryRows(sql, "show status like 'binlog_snapshot_%'");
    const value = (name: string): string =>
      rows.find((row) => String(row['Variable_name']).toLowerCase() === name)?.['Value'] ?? '';
    return await mariadbPosition(sql, {
      file: value('binlog_snapshot_file'),
      offset: Number(value('binlog_snapshot_position')),
    });
  } finally {
    await sql.run('commit');
  }
}
