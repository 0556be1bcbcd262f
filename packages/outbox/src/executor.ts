import { DIALECTS, type Dialect } from './dialect.js';
import { configError } from './errors.js';

/** What a statement is given beside its text. */
export type Param = string | Uint8Array | null;

/**
 * The transaction of the application, whatever library made it: one function that runs a statement in it. Those for the
 * usual libraries are in `executors/`; another one is as short.
 */
export interface Executor {
  readonly dialect: Dialect;
  /** How the nth value (from 1) is written in a statement; default `$1` on Postgres, `?` on the others. */
  readonly place?: (n: number) => string;
  /** Resolves with what the library gives: a list of rows, or one that holds it, for a SELECT; else anything. */
  run(sql: string, params: readonly Param[]): Promise<unknown>;
}

/**
 * What stands for a value in the statements of an executor that takes them apart there. No name can have it.
 */
const MARK = '\0';

/** For libraries that want the parts of a statement between the values. */
export const inParts = { place: () => MARK, parts: (sql: string): string[] => sql.split(MARK) } as const;

export function placeOf(executor: Executor): (n: number) => string {
  return executor.place ?? (executor.dialect === 'postgres' ? (n) => `$${String(n)}` : () => '?');
}

/** @throws OutboxError `OUTBOX_CONFIG` for what is the library's own client, say. */
export function checkExecutor(executor: Executor): void {
  const { dialect, run } = executor as Partial<Executor>;
  if (typeof run === 'function' && DIALECTS.some((known) => known === dialect)) return;
  throw configError(
    'What was given for the transaction is not an executor with a dialect.',
    'Wrap the client or the transaction of your library: pgExecutor(client), prismaExecutor(tx, dialect), and so on.',
  );
}

type Row = Readonly<Record<string, unknown>>;

/** The rows of a SELECT, however the library hands them over: `{ rows }`, `[rows, …]` or `rows`. */
export function rowsOf(result: unknown): readonly Row[] {
  if (Array.isArray(result)) return (Array.isArray(result[0]) ? result[0] : result) as readonly Row[];
  const rows = typeof result === 'object' && result !== null ? (result as { rows?: unknown }).rows : null;
  if (Array.isArray(rows)) return rows as readonly Row[];
  throw configError(
    'The executor does not give the rows of a SELECT.',
    'Its function must resolve with the list of rows, as objects.',
  );
}
