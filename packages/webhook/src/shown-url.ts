/** What of a URL may be in a message: the user's name, the path and the query may be, or hold, a secret. */
export function shownUrl({ origin }: URL): string {
  return origin;
}
