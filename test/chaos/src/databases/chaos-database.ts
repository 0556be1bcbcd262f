import type { TestOutbox } from '@strandline/test-kit';
import type { DeadLettersOptions } from 'strandline';
import type { LoadSession } from '../load/load-session.js';
import type { DatabaseName } from '../names.js';

/** How a server ends. */
export type Ending = 'orderly' | 'immediate' | 'kill';

/** A database server of the run's own, with the outbox in it. */
export interface ChaosDatabase extends AsyncDisposable {
  readonly name: DatabaseName;
  /** The server's connection string, for the networks before it. */
  readonly url: string;
  readonly outbox: TestOutbox;
  readonly endings: readonly Ending[];
  open(): Promise<LoadSession>;
  down(how: Ending): Promise<void>;
  up(): Promise<void>;
  /** Ends the log's file and begins the next one. */
  rotate(): Promise<void>;
  /** Throws away what of the log nobody needs who stands at this position. Tells what went. */
  purge(position: string): Promise<string>;
  /** The dead-letter table beside the outbox, by this connection string. */
  lettersAt(url: string): DeadLettersOptions;
  /** Ids of the rows that have one of these payloads. */
  idsWith(payloads: readonly string[]): Promise<string[]>;
}
