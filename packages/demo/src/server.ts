import { ServerError, startMariadb, startMysql, startPostgres } from '@strandline/servers';
import { KINDS, type DatabaseName } from './database/kinds.js';
import { DemoFailure } from './failure.js';
import type { View } from './view.js';

/** The demo's own server; it is removed with all of its data when it is disposed of. */
export interface ShopServer extends AsyncDisposable {
  /** Creates an empty database; resolves with its connection string. */
  createDatabase(name: string): Promise<string>;
}

interface ServerKind {
  readonly start: (options: { readonly origin: 'local' }) => Promise<ShopServer>;
  /** What the first start downloads; undefined when npm has brought it already. */
  readonly packages: string | undefined;
}

const SERVERS: Readonly<Record<DatabaseName, ServerKind>> = {
  postgres: { start: startPostgres, packages: undefined },
  mysql: { start: startMysql, packages: "mysql-server-core from Debian's suite unstable" },
  mariadb: { start: startMariadb, packages: "mariadb-server-core from Debian's suite trixie" },
};

export async function startShopServer(database: DatabaseName, view: View): Promise<ShopServer> {
  const { start, packages } = SERVERS[database];
  const { label } = KINDS[database];
  view.say(`Starting a ${label} of its own …`);
  if (packages !== undefined)
    view.say(`(The first time this downloads ${packages}, with its libraries, into .cache.)`);
  try {
    // As a process even where a Docker engine answers: pulling an image can take longer than the whole demo.
    return await start({ origin: 'local' });
  } catch (error) {
    if (packages === undefined || !isUnavailable(error)) throw error;
    // The error's own remedy names ways that the demo does not take.
    throw new DemoFailure(
      `${label} can't be had here: ${reasonOf(error.cause)}.\n` +
        `The demo takes it from Debian's packages, for which it needs apt-get, dpkg-deb and, once, a Debian mirror. ` +
        'npm start without options runs on Postgres, which comes from npm.',
      { cause: error },
    );
  }
}

function isUnavailable(error: unknown): error is ServerError {
  return error instanceof ServerError && error.code === 'SERVER_UNAVAILABLE';
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
