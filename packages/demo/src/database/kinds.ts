import { deadLetters, mysql, postgres, type DeadLetterStore, type Source } from 'strandline';
import { MysqlShop } from './mysql-shop.js';
import { PostgresShop } from './postgres-shop.js';
import type { ShopDatabase } from './shop-database.js';

export const DATABASES = ['postgres', 'mysql', 'mariadb'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** Where the shop's tables can be: the only place of the demo that knows more than one database. */
export interface DatabaseKind {
  /** For people to read. */
  readonly label: string;
  open(url: string, client: string, connections: number): ShopDatabase;
  /** Strandline's source for the shop's outbox. */
  source(url: string): Source;
  /** Where its dead letters are. */
  letters(url: string): DeadLetterStore;
  /** A shell command that runs a statement there. */
  shellCommand(url: string, statement: string): string;
}

const OUTBOX = { table: 'outbox', id: 'id', key: 'order_id', type: 'type', payload: 'payload' };

export const KINDS: Readonly<Record<DatabaseName, DatabaseKind>> = {
  postgres: {
    label: 'Postgres',
    open: (url, client, connections) => new PostgresShop(url, client, connections),
    // An hour of the log is kept: for replays.
    source: (url) => postgres({ url, outbox: OUTBOX, start: 'now', retention: { age: 3_600_000 } }),
    letters: (url) => deadLetters({ postgres: { url } }),
    shellCommand: (url, statement) => `psql '${url}' -c "${statement}"`,
  },
  mysql: mysqlKind('MySQL', 'mysql'),
  mariadb: mysqlKind('MariaDB', 'mariadb'),
};

function mysqlKind(label: string, program: string): DatabaseKind {
  return {
    label,
    open: (url, client, connections) => new MysqlShop(url, client, connections),
    source: (url) => mysql({ url, outbox: OUTBOX, start: 'now' }),
    letters: (url) => deadLetters({ mysql: { url } }),
    shellCommand: (url, statement) => {
      const { hostname, port, username, password, pathname } = new URL(url);
      // The client takes no connection string.
      return `${program} -h ${hostname} -P ${port} -u ${username} -p${password} ${pathname.slice(1)} -e "${statement}"`;
    },
  };
}
