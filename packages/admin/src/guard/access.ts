import { timingSafeEqual, createHash } from 'node:crypto';
import { adminError } from '../errors.js';

/** What of a request decides whether it is let in. Headers as they came; null when missing. */
export interface Caller {
  readonly method: string;
  /** The host of the request's target: its `Host`, unless the request line names another one. */
  readonly target: string;
  readonly host: string | null;
  readonly origin: string | null;
  /** `Sec-Fetch-Site`, which browsers set and pages can't. */
  readonly site: string | null;
  readonly authorization: string | null;
  readonly contentType: string | null;
}

export interface AccessRules {
  /** Whether the server listens on a loopback address: then only this machine reaches it. */
  readonly loopback: boolean;
  /** Null: none is asked for, which is possible on a loopback address alone. */
  readonly token: string | null;
  readonly readOnly: boolean;
}

export interface Refusal {
  readonly status: 400 | 401 | 403 | 415;
  readonly code: 'ADMIN_HOST' | 'ADMIN_TOKEN' | 'ADMIN_ORIGIN' | 'ADMIN_READ_ONLY' | 'ADMIN_CONTENT_TYPE';
  readonly problem: string;
  readonly remedy: string;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** A header carries no other characters as they are, and a client may cut off spaces. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Throws `ADMIN_CONFIG` for a token that nobody could send. */
export function checkToken(token: string): void {
  if (TOKEN.test(token)) return;
  throw adminError(
    'ADMIN_CONFIG',
    'The token has a character that no request can carry, or none at all.',
    'Make it of letters, digits and the signs of ASCII, without spaces: openssl rand -hex 32.',
  );
}

/**
 * Whether a request is let in; null when it is.
 *
 * - A loopback server answers to its own names alone, so that a web page whose name was made to lead here (DNS rebinding)
 *   can't ask it.
 * - No page of another site may ask at all. It could not read the answer, but what is looked at costs something: a stream
 *   of looks has a place, and a doctor's visit sessions on the servers.
 * - What changes something must be JSON, which no other site's form can send.
 */
export function refusalOf(caller: Caller, { loopback, token, readOnly }: AccessRules): Refusal | null {
  if (loopback && !(LOOPBACK_HOST.test(caller.host ?? '') && LOOPBACK_HOST.test(caller.target)))
    return WRONG_HOST;
  if (token !== null && !isToken(caller.authorization, token)) return NO_TOKEN;
  if (isForeign(caller)) return OTHER_ORIGIN;
  if (caller.method === 'GET' || caller.method === 'HEAD') return null;
  if (readOnly) return READ_ONLY;
  return /^application\/json(?:;|$)/i.test(caller.contentType ?? '') ? null : NOT_JSON;
}

/**
 * Whether a page of another site asks, by what its browser says. `none` is the person at it. A proxy in between may have
 * changed the host, which is why a browser's `same-origin` is enough.
 */
function isForeign({ origin, site, host }: Caller): boolean {
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  return origin !== null && !isOwn(origin, host);
}

/** Compared in a time that tells nothing of it. */
function isToken(authorization: string | null, token: string): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (given === undefined) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function isOwn(origin: string, host: string | null): boolean {
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}

const WRONG_HOST: Refusal = {
  status: 400,
  code: 'ADMIN_HOST',
  problem: 'This server answers to localhost, 127.0.0.1 and [::1] alone.',
  remedy: 'Ask it by one of these names.',
};
const NO_TOKEN: Refusal = {
  status: 401,
  code: 'ADMIN_TOKEN',
  problem: 'The token is missing or wrong.',
  remedy: 'Send it as Authorization: Bearer <token>; it is what STRANDLINE_ADMIN_TOKEN holds.',
};
const OTHER_ORIGIN: Refusal = {
  status: 403,
  code: 'ADMIN_ORIGIN',
  problem: 'A page of another site asks.',
  remedy: 'Ask from the console of this server, or without a browser.',
};
const READ_ONLY: Refusal = {
  status: 403,
  code: 'ADMIN_READ_ONLY',
  problem: 'This server changes nothing: it was started with --admin-read-only.',
  remedy: 'Start the process without it.',
};
const NOT_JSON: Refusal = {
  status: 415,
  code: 'ADMIN_CONTENT_TYPE',
  problem: 'What changes something is asked for in JSON.',
  remedy: 'Send the header content-type: application/json, and {} when there is nothing to say.',
};
