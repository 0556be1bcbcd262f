import { PAYLOAD_START } from '../../databases/payload.js';
import type { PeerTask } from '../peer.js';

/** How the Java program is told things: its arguments are `name=value`. */
export type JavaArguments = Readonly<Record<string, string>>;

const PORTS: Readonly<Record<'postgres' | 'mysql', string>> = { postgres: '5432', mysql: '3306' };

/** All of the URL but the password, which everyone on the machine could read there. */
export function serverArguments(kind: 'postgres' | 'mysql', url: string): JavaArguments {
  const { hostname, port, username, pathname } = new URL(url);
  return {
    kind,
    host: hostname,
    port: port || PORTS[kind],
    user: decodeURIComponent(username),
    database: decodeURIComponent(pathname.slice(1)),
  };
}

export function passwordOf(url: string): string {
  return decodeURIComponent(new URL(url).password);
}

export function taskArguments(task: PeerTask): JavaArguments {
  switch (task.kind) {
    case 'speed':
      return {
        task: task.kind,
        route: 'type',
        rows: String(task.rows),
        limit: String(task.limit),
        'ordinal.at': String(PAYLOAD_START.length),
      };
    case 'history':
      // That outbox has no column for a type, and the router insists on one to make a topic of.
      return { task: task.kind, route: 'key', run: String(task.run), work: String(task.work) };
  }
}
