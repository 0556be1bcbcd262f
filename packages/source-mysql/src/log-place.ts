import type { FilePosition } from './position.js';

/** A place between two transactions of the log, from which it can be read. */
export interface LogPlace {
  readonly at: FilePosition;
  /** What is executed there; empty without GTIDs. */
  readonly executed: string;
}
