import type { LetterFence } from '@strandline/core';
import { chunksOf } from './chunks.js';
import { marks } from './insert.js';
import { fencedOwner } from './owner-row.js';
import { textOf } from './row.js';
import type { Tables } from './tables.js';
import { hashOf } from './text.js';
import type { Transactions } from './transactions.js';

/** Positions that are looked at at once. */
const PAGE = 1_000;

/**
 * Deletes letters that are done with and that the log does not deliver again, oldest first. What was skipped is kept:
 * somebody is to look at it.
 */
export async function prune(
  transactions: Transactions,
  tables: Tables,
  fence: LetterFence,
  isSettled: (position: string) => boolean,
  limit: number,
): Promise<number> {
  const ids: string[] = [];
  for (const state of ['handled', 'discarded'])
    await findSettled(transactions, tables, fence.pipeline, state, isSettled, limit, ids);
  if (ids.length === 0) return 0;
  return transactions.run(async (session) => {
    const owner = await fencedOwner(session, tables, fence);
    if (owner === 'fenced') return 0;
    let deleted = 0;
    for (const chunk of chunksOf(ids)) {
      const { changed } = await session.run(
        `delete from ${tables.letters} where id in (${marks(chunk.length)}) and state in ('handled', 'discarded')`,
        chunk,
      );
      deleted += changed;
    }
    return deleted;
  });
}

async function findSettled(
  transactions: Transactions,
  { letters, owners }: Tables,
  pipeline: string,
  state: string,
  isSettled: (position: string) => boolean,
  limit: number,
  ids: string[],
): Promise<void> {
  for (let after = '0'; ids.length < limit;) {
    const rows = await transactions.rows(
      `select id, log_position from ${letters} where pipeline = (select id from ${owners} where pipeline_hash = ?)
        and state = ? and id > ? order by id limit ?`,
      [hashOf(pipeline), state, after, PAGE],
    );
    for (const row of rows) {
      after = String(row['id']);
      if (ids.length < limit && isSettled(textOf(row, 'log_position'))) ids.push(after);
    }
    if (rows.length < PAGE) return;
  }
}
