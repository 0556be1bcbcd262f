import type { Trouble } from './dialect.js';
import { LettersError, unavailable } from './errors.js';

/** What a failure means for the caller. It keeps the error's message, never its statement, which has the payload. */
export function explain(
  name: string,
  trouble: Trouble,
  error: unknown,
  ddl: readonly string[],
): LettersError {
  const cause = withoutStatement(error);
  const said = cause.message.replace(/\.$/, '');
  const details = { cause };
  switch (trouble) {
    case 'again':
    case 'away':
    case 'read-only':
      return unavailable(name, said, cause);
    case 'login':
      return new LettersError(
        'LETTERS_CONFIG',
        `The server of the dead-letter table at ${name} does not let us in (${said}).`,
        'Correct user, password, database or TLS settings in the options of the dead-letter table.',
        details,
      );
    case 'missing':
      return new LettersError(
        'LETTERS_SCHEMA',
        `The dead-letter table at ${name} is not there (${said}).`,
        `The first pipeline that uses it makes it, if it may. To make it by hand, run:\n${script(ddl)}`,
        details,
      );
    case 'forbidden':
      return new LettersError(
        'LETTERS_SCHEMA',
        `The user may not make or use the dead-letter table at ${name} (${said}).`,
        `Grant select, insert, update and delete on the tables. If they are not there, have somebody run:\n${script(ddl)}`,
        details,
      );
    case 'shape':
      return new LettersError(
        'LETTERS_SCHEMA',
        `The dead-letter table at ${name} has not the columns that it must have (${said}).`,
        `Choose another prefix, or have it as this makes it:\n${script(ddl)}`,
        details,
      );
    case 'refused':
      return new LettersError(
        'LETTERS_REFUSED',
        `The dead-letter table at ${name} does not take this (${said}).`,
        'Look at the limits of the database, such as the longest packet that it allows.',
        details,
      );
  }
}

function script(ddl: readonly string[]): string {
  return ddl.map((statement) => `${statement};`).join('\n');
}

function withoutStatement(error: unknown): Error {
  const { message, name, stack, code }: Error & { code?: unknown } =
    error instanceof Error ? error : new Error(String(error));
  const first = error instanceof AggregateError && message === '' ? String(error.errors[0]) : message;
  const copy = new Error(first);
  copy.name = name;
  if (stack !== undefined) copy.stack = stack;
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy;
}
