import { withoutCredentials } from '@strandline/core';
import { setupError } from './errors.js';
import { hasPassword, PASSWORD, withPassword, type Step } from './steps.js';

/** What differs between the servers. */
export interface Runner {
  readonly run: (sql: string) => Promise<unknown>;
  /** A text as a literal. */
  readonly literal: (text: string) => string;
}

/** Runs what this session may run, in order, and tells each. Throws `SETUP_STATEMENT` for the first that is refused. */
export async function runSteps(
  steps: readonly Step[],
  password: string | null,
  { run, literal }: Runner,
  done: (step: Step) => void,
): Promise<void> {
  for (const step of steps.filter(({ by }) => by === null)) {
    const sql = hasPassword(step) && password !== null ? withPassword(step, literal(password)) : step.text;
    try {
      await run(sql.replace(/;$/, ''));
    } catch (cause) {
      throw setupError(
        'SETUP_STATEMENT',
        `The server refused: ${step.text} (${reasonOf(cause, password)}).`,
        'What is listed before it was done. Run it as a user that may, then call init again: it leaves out what is there.',
        // A server quotes the statement in its error, and with it the password.
        hasPassword(step) ? {} : { cause },
      );
    }
    done(step);
  }
}

function reasonOf(cause: unknown, password: string | null): string {
  const text = withoutCredentials(cause instanceof Error ? cause.message : String(cause));
  return password === null ? text : text.replaceAll(password, PASSWORD);
}
