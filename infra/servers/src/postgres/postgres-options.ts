import type { ServerProcess } from '../origins/server-process.js';

/** How a Postgres is wanted. Any of these asks for a server of its own; `{}` takes the environment's too. */
export interface PostgresOptions {
  /** Server settings on top of the defaults, as in `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Port on 127.0.0.1; a free one by default. */
  readonly port?: number;
  /** A folder that keeps the data and the password over the end of the run. Local binaries only. */
  readonly persistTo?: string;
  /** True for a server that the test may stop and kill: never the one that the environment names. */
  readonly exclusive?: boolean;
  /** Only this way to get a server; the first that applies by default. */
  readonly origin?: ServerProcess['origin'];
}

export const superuser = 'postgres';

/** Settings of every server started here. */
export const defaultSettings: Readonly<Record<string, string>> = {
  wal_level: 'logical',
  max_wal_senders: '64',
  max_replication_slots: '64',
  max_connections: '200',
  // The data dies with the run, so a power cut is no concern. A killed process loses nothing by it.
  fsync: 'off',
};

/** Settings of local servers besides. In a container these are the image's business. */
export const localSettings: Readonly<Record<string, string>> = {
  // Shared memory as files of the data directory: a killed server leaves nothing in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
  // Sockets have path lengths and owners to mind; TCP is what is tested.
  unix_socket_directories: '',
};

/** As arguments of `postgres`. */
export function settingArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
