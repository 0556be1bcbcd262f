import type { OutboxRow } from '@strandline/test-kit';

/** A connection of the application's, straight to the server: faults of the pipeline's network are none of its. */
export interface LoadSession {
  insert(rows: readonly OutboxRow[]): Promise<unknown>;
  /** Any statement without a result. */
  run(sql: string): Promise<unknown>;
  close(): void;
}
