import type { DeadLetter } from '@strandline/core';
import type { Value } from './dialect.js';
import { marks } from './insert.js';
import { fromRow, SELECTED } from './letter-rows.js';
import { integerOf } from './row.js';
import type { Tables } from './tables.js';
import type { Transactions } from './transactions.js';

/** Bytes of a page, about; one letter may be larger. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Letters that a query finds, as many as memory can take at once: what they hold is known before they are read. What
 * no longer fits `still` by then is left out.
 *
 * @param find selects `id` and `bytes`, in the order that is wanted
 */
export async function readPage(
  transactions: Transactions,
  { letters }: Tables,
  find: { readonly sql: string; readonly values: readonly Value[] },
  still = '',
): Promise<DeadLetter[]> {
  const found = await transactions.rows(find.sql, find.values);
  const ids: string[] = [];
  let bytes = 0;
  for (const row of found) {
    bytes += integerOf(row, 'bytes');
    if (ids.length > 0 && bytes > PAGE_BYTES) break;
    ids.push(String(row['id']));
  }
  if (ids.length === 0) return [];
  const rows = await transactions.rows(
    `select ${SELECTED} from ${letters} where id in (${marks(ids.length)}) ${still}`,
    ids,
  );
  const byId = new Map(rows.map((row) => [String(row['id']), row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : [fromRow(row)];
  });
}
