import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { buildConnector } from 'undici';
import { isPrivateAddress } from './private-address.js';

/** What fails a connection to an address that is refused. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'PRIVATE_ADDRESS';
  constructor(readonly address: string) {
    super(`${address} is a private address.`);
  }
}

/**
 * Looks a name up, and leaves out what is private: of the addresses that remain one is connected to, so there is no second
 * look-up that could have another answer.
 */
export function publicOnly(resolve: typeof lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const [first, ...more] = addresses.filter(({ address }) => !isPrivateAddress(address));
      if (first === undefined) callback(new PrivateAddressError(addresses[0]?.address ?? hostname), '');
      else if (options.all === true) callback(null, [first, ...more] satisfies LookupAddress[]);
      else callback(null, first.address, first.family);
    });
  };
}

export const publicLookup = publicOnly(lookup);

/**
 * Wraps undici's connector: an address that stands in the URL is not looked up, so it is looked at here; and so is, to be
 * sure, the one that a connection has in the end.
 */
export function refusingPrivateAddresses(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const { hostname } = options;
    if (isIP(hostname) !== 0 && isPrivateAddress(hostname)) {
      queueMicrotask(() => {
        callback(new PrivateAddressError(hostname), null);
      });
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const refusal = refusalOf(socket.remoteAddress);
      if (refusal === null) {
        callback(null, socket);
        return;
      }
      socket.on('error', () => undefined).destroy();
      callback(refusal, null);
    });
  };
}

/** A connection that the other side has just reset has no address any more. That says nothing of the next one. */
function refusalOf(address: string | undefined): Error | null {
  if (address === undefined)
    return Object.assign(new Error('The connection broke at once.'), { code: 'ENOTCONN' });
  return isPrivateAddress(address) ? new PrivateAddressError(address) : null;
}

/** What TLS is told, of the validated options. */
export type TlsSettings = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'passphrase' | 'servername' | 'rejectUnauthorized'
>;
