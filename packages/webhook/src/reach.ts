import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { publicLookup } from './connector.js';
import type { ValidOptions } from './options.js';
import { isPrivateAddress } from './private-address.js';

/** What a look at a receiver has found. */
export interface Reached {
  /** Of its host; empty when the name is not known. */
  readonly addresses: readonly string[];
  /** Why there was no connection; null when there was. */
  readonly failure: string | null;
  /** Milliseconds until the certificate expires; null without TLS. */
  readonly expiresIn: number | null;
}

type Settings = Pick<ValidOptions, 'connectTimeout' | 'refusePrivateAddresses' | 'tls'>;

/** Looks the name up and connects as a request would, then hangs up. */
export async function reach(url: URL, settings: Settings, signal: AbortSignal): Promise<Reached> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  let addresses: readonly string[] = [];
  try {
    addresses = isIP(host) === 0 ? (await lookup(host, { all: true })).map(({ address }) => address) : [host];
    if (settings.refusePrivateAddresses && addresses.every(isPrivateAddress)) {
      return { addresses, failure: 'not connected to: its address is private', expiresIn: null };
    }
    return { addresses, failure: null, expiresIn: await connected(host, url, settings, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { addresses, failure: reasonOf(error), expiresIn: null };
  }
}

async function connected(
  host: string,
  url: URL,
  { connectTimeout, refusePrivateAddresses, tls }: Settings,
  signal: AbortSignal,
): Promise<number | null> {
  const isTls = url.protocol === 'https:';
  const port = Number(url.port === '' ? (isTls ? 443 : 80) : url.port);
  const how = { host, port, ...(refusePrivateAddresses ? { lookup: publicLookup } : {}) };
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = isTls ? connectTls({ ...servername, ...how, ...tls }) : connect(how);
  try {
    await untilOpen(socket, isTls ? 'secureConnect' : 'connect', connectTimeout, signal);
    return isTls ? Date.parse((socket as TLSSocket).getPeerCertificate().valid_to) - Date.now() : null;
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

function untilOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  timeout: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end(new Error(`no connection within ${String(timeout)} ms`));
    }, timeout);
    const onAbort = (): void => {
      end(signal.reason);
    };
    const end = (failure?: unknown): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (failure === undefined) resolve();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a signal's reason is what it is
      else reject(failure);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once(event, () => {
      end();
    });
    socket.once('error', end);
    if (signal.aborted) onAbort();
  });
}

/** A code says it, and a certificate's checks have one each. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message);
}
