/**
 * `scheme://user:password@`; up to the last `@`, since a password may hold one that is not encoded. A scheme is looked for
 * from the beginning of a word only: from each of its letters, a long word would cost the square of its length.
 */
const CREDENTIALS = /(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s"'`]*@/gi;
/** `password=…` as in libpq's connection strings, `password: '…'` as in a printed object. */
const ASSIGNED = /(\bpassword["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi;

/**
 * A text that somebody else's code wrote, fit for a terminal, a log and a report: without what looks like a credential.
 * Our own errors promise that by themselves.
 */
export function withoutCredentials(text: string): string {
  return text.replaceAll(CREDENTIALS, '$1***@').replaceAll(ASSIGNED, '$1***');
}
