/** `scheme://user:password@`; up to the last `@`, since a password may hold one that is not encoded. */
const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)[^\s"'`]*@/gi;
/** `password=…` as in libpq's connection strings, `password: '…'` as in a printed object. */
const ASSIGNED = /(\bpassword["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi;

/**
 * A text that somebody else's code wrote, fit for a terminal and a log: without what looks like a credential.
 * Our own errors promise that by themselves.
 */
export function withoutCredentials(text: string): string {
  return text.replaceAll(CREDENTIALS, '$1***@').replaceAll(ASSIGNED, '$1***');
}

/**
 * What somebody else's error says, in one line. The lines after the first may quote the source of a config or
 * the parameters of a statement; a thrown value that is no error may be a payload.
 */
export function firstLineOf(error: unknown): string {
  if (typeof error === 'string') return withoutCredentials(firstLine(error));
  if (!(error instanceof Error)) return `a value that is no error was thrown (${typeof error})`;
  const text = firstLine(error.message);
  return withoutCredentials(text === '' ? error.name : `${error.name}: ${text}`);
}

/** The frames of an error's stack, without the message above them. */
export function framesOf(error: Error): string[] {
  return (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
}

function firstLine(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').trim();
}
