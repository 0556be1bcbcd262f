import type { Context } from 'hono';
import type { Caller } from './access.js';

/** What of a request decides whether it is let in. */
export function callerOf({ req }: Context): Caller {
  const header = (name: string): string | null => req.header(name) ?? null;
  return {
    method: req.method,
    target: new URL(req.url).host,
    ...{ host: header('host'), origin: header('origin'), site: header('sec-fetch-site') },
    ...{ authorization: header('authorization'), contentType: header('content-type') },
  };
}

/** Of the connection, not of a header that anybody can set. */
export function addressOf({ env }: Context): string {
  const { incoming } = env as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
  return incoming?.socket?.remoteAddress ?? 'an unknown address';
}
