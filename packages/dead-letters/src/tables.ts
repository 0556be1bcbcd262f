import type { Dialect, Session, TableNames } from './dialect.js';
import { LettersError } from './errors.js';
import type { ValidOptions } from './options.js';

/** What `version` is in the rows of owners that this version writes and reads. */
export const VERSION = 2;

/** After the prefix. */
export const TABLE_NAMES = ['dead_letters', 'parked_keys', 'letter_owners'] as const;

/** The tables, and what a statement on them needs of the database. */
export interface Tables extends TableNames {
  /** Of the database, for errors. */
  readonly name: string;
  /** Where they are; null for where the connection is. */
  readonly schema: string | null;
  readonly dialect: Dialect;
}

export function tablesOf({ schema, prefix }: ValidOptions, dialect: Dialect): Tables {
  const qualified = (name: string): string =>
    [...(schema === null ? [] : [schema]), `${prefix}${name}`]
      .map((part) => dialect.quoteName(part))
      .join('.');
  return {
    letters: qualified('dead_letters'),
    keys: qualified('parked_keys'),
    owners: qualified('letter_owners'),
    ...{ prefix, schema },
    name: dialect.name,
    dialect,
  };
}

/** Makes those that are missing. MySQL commits after each; the next call then goes on where this one has ended. */
export async function makeTables(session: Session, tables: Tables): Promise<void> {
  const { dialect } = tables;
  const problem = await dialect.checkDatabase(session);
  if (problem !== null) {
    throw new LettersError(
      'LETTERS_SCHEMA',
      `The database at ${tables.name} can't keep dead letters: ${problem}.`,
      'Use another database for them.',
    );
  }
  if (dialect.lockDdl !== null) await session.run(dialect.lockDdl);
  for (const statement of dialect.ddl(tables)) await session.run(statement);
}
