import { quoted, quotedTable } from './dialect.js';
import { eventError } from './errors.js';
import { placeOf, type Executor, type Param } from './executor.js';
import type { ValidOptions } from './options.js';
import type { Row } from './row.js';

/** Postgres counts the values of a statement in 16 bits, and Prisma in 15. */
const MOST_PARAMS = 32_767;
/** Of the values' texts; written into a statement they grow to twice that, and no server takes less than 4 MiB. */
const MOST_BYTES = 1024 * 1024;

export interface Statement {
  readonly sql: string;
  readonly params: readonly Param[];
}

/** The inserts that write the rows in their order: as few as the servers' limits allow. A row that is larger goes alone. */
export function* insertStatements(
  executor: Executor,
  options: Pick<ValidOptions, 'table'>,
  rows: readonly Row[],
): Generator<Statement> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = [...first.cells.keys()];
  const names = columns.map((column) => quoted(executor.dialect, column)).join(', ');
  const table = quotedTable(executor.dialect, options.table);
  const place = placeOf(executor);
  const statement = (params: readonly Param[]): Statement => {
    const places = params.map((_, n) => place(n + 1));
    const values: string[] = [];
    for (let at = 0; at < places.length; at += columns.length)
      values.push(`(${places.slice(at, at + columns.length).join(', ')})`);
    return { sql: `insert into ${table} (${names}) values ${values.join(', ')}`, params };
  };

  let params: Param[] = [];
  let bytes = 0;
  for (const row of rows) {
    const cells = columns.map((column) => row.cells.get(column) ?? null);
    const size = cells.reduce((sum, cell) => sum + (cell === null ? 0 : Buffer.byteLength(cell)), 0);
    if (params.length > 0 && (params.length + cells.length > MOST_PARAMS || bytes + size > MOST_BYTES)) {
      yield statement(params);
      [params, bytes] = [[], 0];
    }
    params.push(...cells);
    bytes += size;
  }
  yield statement(params);
}

/** A row that lacks a column, or has one that others lack, would get the server's default there and nobody would see. */
export function checkSameColumns(rows: readonly Row[]): void {
  const [first, ...others] = rows;
  if (first === undefined) return;
  for (const { cells } of others) {
    if (cells.size === first.cells.size && [...cells.keys()].every((column) => first.cells.has(column)))
      continue;
    throw eventError('The events of one call differ in their columns.', 'Give each the same event.columns.');
  }
}
