/** Which server it is; asked from the server, since the scheme of a URL does not tell MySQL from MariaDB. */
export type Flavour = 'postgres' | 'mysql' | 'mariadb';

export interface ColumnFacts {
  readonly name: string;
  /** As the server prints it, in lower case: `character varying(255)`, `bigint unsigned`, `jsonb`. */
  readonly type: string;
  readonly nullable: boolean;
}

/** A table as the catalog has it. */
export interface TableFacts {
  readonly schema: string;
  readonly name: string;
  /** In order; those that the log does not have (generated ones of Postgres) are left out. */
  readonly columns: readonly ColumnFacts[];
  readonly primaryKey: readonly string[];
  /** By estimate; null when the server has none. */
  readonly rows: number | null;
  /** Rows written since the statistics began; null where the server does not count them. */
  readonly writes: { readonly inserted: number; readonly updated: number; readonly deleted: number } | null;
  /** Why its rows do not come out of the log as they are, and what to run; null when they do. */
  readonly obstacle: { readonly what: string; readonly sql: string } | null;
}

/** A name of a table with what it is looked up by. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

/** What a first look at a server has found. Read-only, and within limits of time and amount. */
export interface Survey {
  readonly flavour: Flavour;
  readonly version: string;
  /** Where tables without a schema are found: a schema of Postgres, the database of MySQL. */
  readonly schema: string;
  readonly database: string;
  readonly user: string;
  /** Of all that are there; `tables` are those that were looked at, at most `TABLES_LOOKED_AT`. */
  readonly tableCount: number;
  readonly tables: readonly TableFacts[];
  /** What somebody should know before the pipeline runs. */
  readonly notes: readonly string[];
}

/** So many tables are looked at more closely: those whose names are most like an outbox's. */
export const TABLES_LOOKED_AT = 100;
/** So many names are read. */
export const NAMES_READ = 100_000;
/** Milliseconds to connect, and for each question. */
export const PATIENCE = 10_000;
