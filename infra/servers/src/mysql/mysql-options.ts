import { randomInt } from 'node:crypto';
import type { ServerProcess } from '../origins/server-process.js';

/** How a MySQL or MariaDB is wanted. Any of these asks for a server of its own; `{}` takes the environment's too. */
export interface MysqlOptions {
  /** The release series, as in `8.4`, or any tag of the image; by default the newest that is tested. */
  readonly version?: string;
  /** Options of mysqld on top of the defaults, as in `{ 'gtid-mode': 'OFF' }`; with dashes or underscores. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Port on 127.0.0.1; a free one by default. */
  readonly port?: number;
  /** True for a server that the test may stop, pause and kill: never the one that the environment names. */
  readonly exclusive?: boolean;
  /** Only this way to get a server; the first that applies by default. */
  readonly origin?: ServerProcess['origin'];
}

export const superuser = 'root';

/** Server ids from 2^30 on are left to readers, which must differ from every server and from each other. */
export const lowestReaderId = 2 ** 30;

/** Settings of every server started here, of both kinds. The defaults of the kind come on top. */
export function commonSettings(): Record<string, string> {
  return {
    'server-id': String(randomInt(1, lowestReaderId)),
    'log-bin': 'binlog',
    'binlog-row-image': 'FULL',
    'binlog-row-metadata': 'FULL',
    'character-set-server': 'utf8mb4',
    'default-time-zone': '+00:00',
    'max-connections': '300',
    'skip-name-resolve': 'ON',
    // Several servers share a machine with the tests.
    'innodb-buffer-pool-size': '64M',
    'innodb-log-buffer-size': '8M',
    'table-open-cache': '400',
    'table-definition-cache': '400',
    // The data dies with the run, so a power cut is no concern. A killed process loses nothing by these.
    'sync-binlog': '0',
    'innodb-flush-log-at-trx-commit': '2',
  };
}

/** As arguments of mysqld, the later settings over the earlier ones. */
export function settingArguments(...layers: readonly Readonly<Record<string, string>>[]): string[] {
  const settings = new Map<string, string>();
  for (const layer of layers)
    for (const [name, value] of Object.entries(layer)) settings.set(name.replaceAll('_', '-'), value);
  return [...settings].map(([name, value]) => `--${name}=${value}`);
}
