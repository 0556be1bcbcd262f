import { adminError } from './errors.js';

/** Where to listen, or to ask. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The loopback address alone is reached from this machine only. */
const LOOPBACK = '127.0.0.1';
const FORM = /^(?:(?:\[(?<six>[0-9A-Fa-f:.%]+)\]|(?<host>[A-Za-z0-9.-]*)):)?(?<port>\d{1,5})$/;

/**
 * Reads `host:port`, `[::1]:port`, `:port` (every interface, as elsewhere) or `port` (this machine only). Port 0 takes a
 * free one. Throws `ADMIN_CONFIG`.
 */
export function parseAddress(text: string): Address {
  const groups = FORM.exec(text)?.groups;
  const port = Number(groups?.['port']);
  if (groups === undefined || port > 65_535) {
    throw adminError(
      'ADMIN_CONFIG',
      `${JSON.stringify(text)} is no address to listen on.`,
      'Write a port for this machine only, such as 9464, or an address and a port: 127.0.0.1:9464, [::1]:9464, 0.0.0.0:9464.',
    );
  }
  const host = groups['six'] ?? groups['host'];
  return { host: host === undefined ? LOOPBACK : host === '' ? '0.0.0.0' : host, port };
}

/** As a URL has it. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

/** Whether only this machine reaches it. */
export function isLoopback({ host }: Address): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
