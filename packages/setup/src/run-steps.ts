import { withoutCredentials } from '@strandline/core';
import { setupError } from './errors.js';
import { hasPassword, PASSWORD, withPassword, type Step } from './steps.js';

/** What differs between the servers. */
export interface Runner {
  readonly run: (sql: string) => Promise<unknown>;
  /** A password as the literal that stands in the statement. */
  readonly literal: (text: string) => string;
}

/** Runs what this session may run, in order, and tells each. Throws `SETUP_STATEMENT` for the first that is refused. */
export async function runSteps(
  steps: readonly Step[],
  password: string | null,
  { run, literal }: Runner,
  done: (step: Step) => void,
): Promise<void> {
  const quoted = password === null ? null : literal(password);
  for (const step of steps.filter(({ by }) => by === null)) {
    const sql = hasPassword(step) && quoted !== null ? withPassword(step, quoted) : step.text;
    try {
      await run(sql.replace(/;$/, ''));
    } catch (cause) {
      throw setupError(
        'SETUP_STATEMENT',
        `The server refused: ${step.text} (${reasonOf(cause, password, quoted)}).`,
        'What is listed before it was done. Run it as a user that may, then call init again: it leaves out what is there.',
        // A server quotes the statement in its error, and with it the password.
        hasPassword(step) ? {} : { cause },
      );
    }
    done(step);
  }
}

function reasonOf(cause: unknown, password: string | null, quoted: string | null): string {
  const text = withoutCredentials(cause instanceof Error ? cause.message : String(cause));
  if (password === null || quoted === null) return text;
  return text.replaceAll(quoted, `'${PASSWORD}'`).replaceAll(password, PASSWORD);
}
