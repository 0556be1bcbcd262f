/** What of a URL may be in a message: a query and a user's name may be, or hold, a secret. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
