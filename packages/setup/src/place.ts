import { setupError } from './errors.js';

/** Which client library speaks to it. */
export type Protocol = 'postgres' | 'mysql';

/** Where a database is, and as whom it is asked. */
export interface Place {
  readonly protocol: Protocol;
  /** In the spelling that the sources take: `postgres://` or `mysql://`. It may hold a password. */
  readonly url: string;
  readonly user: string;
  /** `host:port/database`, without credentials. */
  readonly target: string;
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
};

const SHAPE =
  'Write it as postgres://user:password@host:5432/database or mysql://user:password@host:3306/database, with special characters percent-encoded.';

/**
 * Reads a connection string. Throws `SETUP_URL`, without the text: it may hold a password.
 *
 * @param password for a string that has none, such as that of PGPASSWORD
 */
export function placeOf(text: string, password?: string): Place {
  const url = parse(text);
  const protocol = PROTOCOLS[url.protocol];
  if (protocol === undefined)
    throw setupError(
      'SETUP_URL',
      `The connection string begins with ${url.protocol}//, which is no database that Strandline reads.`,
      SHAPE,
    );
  // The sources and the dead letters know one name each.
  const spelled = parse(url.href.replace(/^[a-z]+:/, `${protocol}:`));
  if (spelled.password === '' && password !== undefined && password !== '')
    spelled.password = encodeURIComponent(password);
  const database = decoded(spelled.pathname.slice(1));
  const user = decoded(spelled.username);
  if (user === '') throw setupError('SETUP_URL', 'The connection string names no user.', SHAPE);
  if (database === '') throw setupError('SETUP_URL', 'The connection string names no database.', SHAPE);
  const port = spelled.port === '' ? { postgres: '5432', mysql: '3306' }[protocol] : spelled.port;
  return { protocol, url: spelled.href, user, target: `${spelled.hostname}:${port}/${database}` };
}

/** The same database as another user; with null the password is for the reader to put in. */
export function urlOf(place: Place, role: string, password: string | null): string {
  const url = parse(place.url);
  if (decoded(url.username) !== role) {
    url.username = encodeURIComponent(role);
    url.password = '';
  }
  if (password !== null) url.password = encodeURIComponent(password);
  return url.href;
}

/** Parameters that hold no secret. */
const OPEN_PARAMETERS = /^(ssl|sslmode|sslrootcert|application_name|connect_timeout|family|db)$/;

/** A URL as it may be shown: with `<password>` where a password belongs, and without the values of unknown parameters. */
export function shownUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return '<…>';
  }
  const account = url.password === '' ? url.username : `${url.username}:<password>`;
  const query = [...url.searchParams].map(
    ([name, value]) => `${name}=${OPEN_PARAMETERS.test(name) ? value : '<…>'}`,
  );
  return [
    `${url.protocol}//`,
    account === '' ? '' : `${account}@`,
    `${url.host}${url.pathname}`,
    query.length === 0 ? '' : `?${query.join('&')}`,
  ].join('');
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // The cause would show the text, and with it the password.
    throw setupError('SETUP_URL', 'The connection string can not be read.', SHAPE);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw setupError('SETUP_URL', 'The connection string has a % that is no percent-encoding.', SHAPE);
  }
}
