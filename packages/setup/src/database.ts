import type { Choice } from './choice.js';
import type { Survey, TableName } from './facts.js';
import type { Step } from './steps.js';

/** What `init` asks of a server. Each call has a connection of its own, since people think in between. */
export interface Database {
  /**
   * The server and its tables, read-only.
   *
   * @param table looked at in any case, whatever it is called: `table`, or `schema.table`
   */
  survey(table: string | null): Promise<Survey>;
  /** What is missing for a choice, in the order in which it is to be done; read-only. */
  missing(choice: Choice): Promise<readonly Step[]>;
  /** Whether a user of that name is there. */
  hasRole(role: string): Promise<boolean>;
  /**
   * Runs the steps that this session may run, in order. Throws `SETUP_STATEMENT` for the first that is refused.
   *
   * @param password of the role that is made
   * @param done told after each
   */
  run(steps: readonly Step[], password: string | null, done: (step: Step) => void): Promise<void>;
}

/** `table`, or `schema.table`; exact names. */
export function tableNameOf(text: string, schema: string): TableName {
  const dot = text.indexOf('.');
  return dot < 0 ? { schema, name: text } : { schema: text.slice(0, dot), name: text.slice(dot + 1) };
}
