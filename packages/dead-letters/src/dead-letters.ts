import type { DeadLetterDesk, DeadLetterStore } from '@strandline/core';
import type { ConnectionOptions } from 'mysql2';
import type { ClientConfig } from 'pg';
import { Connection } from './connection.js';
import { SqlDeadLetterDesk } from './desk.js';
import type { Dialect } from './dialect.js';
import { Mysql, mysqlConfig } from './mysql.js';
import { validate, type DeadLettersOptions, type ValidOptions } from './options.js';
import { Postgres, postgresConfig } from './postgres.js';
import { SqlDeadLetters } from './store.js';
import { tablesOf, type Tables } from './tables.js';
import { Transactions } from './transactions.js';

/**
 * The table in which a pipeline keeps the events that can't be handled, in Postgres, MySQL or MariaDB: the outbox's
 * own database, or another.
 *
 * @throws LettersError `LETTERS_CONFIG`
 */
export function deadLetters(options: DeadLettersOptions): DeadLetterStore {
  const valid = validate(options);
  const { transactions, tables } = access(valid);
  return new SqlDeadLetters(transactions, tables, () => openDesk(valid));
}

/**
 * The operator's side of the same table, from any process.
 *
 * @throws LettersError `LETTERS_CONFIG`
 */
export function deadLetterDesk(options: DeadLettersOptions): DeadLetterDesk {
  return openDesk(validate(options));
}

function openDesk(options: ValidOptions): DeadLetterDesk {
  const { transactions, tables } = access(options);
  return new SqlDeadLetterDesk(transactions, tables);
}

function access(options: ValidOptions): { transactions: Transactions; tables: Tables } {
  const dialect = dialectOf(options);
  const tables = tablesOf(options, dialect);
  const connection = new Connection(dialect, options, dialect.ddl(tables));
  return { transactions: new Transactions(connection, dialect), tables };
}

function dialectOf({ postgres, mysql, ...timeouts }: ValidOptions): Dialect {
  if (mysql !== undefined) return new Mysql(configOf<ConnectionOptions>(mysql, mysqlConfig), timeouts);
  const { connectionString, ...config } = configOf<ClientConfig>(postgres ?? {}, postgresConfig);
  const named = connectionString === undefined ? {} : postgresConfig(connectionString);
  return new Postgres({ ...config, ...named }, timeouts);
}

/** The fields of a URL as the fields that they are, whichever way they were given. */
function configOf<T>(
  { url, connection }: { readonly url?: string | undefined; readonly connection?: T | undefined },
  fromUrl: (url: string) => T,
): T {
  return connection ?? fromUrl(url ?? '');
}
