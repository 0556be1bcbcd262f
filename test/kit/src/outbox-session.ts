import type { OutboxRow } from './outbox-row.js';

/** A connection of a test's own to the database of its outbox. Outside a transaction each statement commits at once. */
export interface OutboxSession extends AsyncDisposable {
  /** Inserts rows with one statement; resolves with their ids, in the order in which they were inserted. */
  insert(rows: readonly OutboxRow[]): Promise<string[]>;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Any other statement. */
  run(sql: string): Promise<void>;
}
