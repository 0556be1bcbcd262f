/** What goes into a statement, and what comes out of it. */
export type Value = string | number | Buffer | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Result {
  readonly rows: readonly Row[];
  /** Rows that a statement has inserted, updated or deleted. */
  readonly changed: number;
}

export interface Question {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Runs statements; `?` stands for a value. */
export interface Session {
  run(sql: string, values?: readonly Value[]): Promise<Result>;
}

/** One connection. Rejections are the library's errors. */
export interface Link extends Session {
  /** Connects, and makes the session as it must be. */
  open(): Promise<void>;
  /** Called once it has ended, whatever ended it. */
  onLost(listener: () => void): void;
  /** Says goodbye. Does not reject. */
  end(): Promise<void>;
  /** Closes the socket at once. */
  destroy(): void;
}

/** What an error of the server or of the network means. */
export type Trouble =
  /** The transaction is rolled back and can be run again at once: a deadlock, a serialisation failure. */
  | 'again'
  /** It may come right by itself. */
  | 'away'
  /** This node takes no writes any more: another one does. */
  | 'read-only'
  | 'login'
  | 'missing'
  | 'forbidden'
  /** The tables have other columns. */
  | 'shape'
  | 'refused';

export interface TableNames {
  /** Qualified and quoted. */
  readonly letters: string;
  readonly keys: string;
  readonly owners: string;
  /** Before the names of indexes. */
  readonly prefix: string;
}

/** What differs between the databases. */
export interface Dialect {
  /** For logs and errors: such as `postgres://host:5432/shop`, without credentials. */
  readonly name: string;
  /** A connection that is not open yet. The library that makes it is loaded with the first one. */
  link(): Promise<Link>;
  /** Begins a transaction that is durable once it has committed. */
  readonly begin: string;
  quoteName(name: string): string;
  /** The statements that make the tables where they are missing, in an order in which the last one makes the set whole. */
  ddl(tables: TableNames): readonly string[];
  /** Taken in a transaction before the tables are made, where two that make them at once would meet. */
  readonly lockDdl: string | null;
  /** What is wrong with a database as a whole for our purpose; null when nothing is. */
  checkDatabase(session: Session): Promise<string | null>;
  /** Has a row when there is such a table that this user may see. */
  findTable(schema: string | null, name: string): Question;
  /** `may` is above 0 when this user may make tables there; `isCertain` when it may not be otherwise. */
  mayCreate(schema: string | null): Question & { readonly isCertain: boolean };
  /** An insert of so many rows that leaves those alone which are there already. */
  insertNew(table: string, columns: readonly string[], rows: number): string;
  /** An insert into all columns, of no row. */
  copyNothing(table: string): string;
  /** Whether a text column is exactly the value `?`. */
  equals(column: string): string;
  trouble(error: unknown): Trouble;
}
