import type { LetterFilter } from '@strandline/core';
import { changeAll } from './change-all.js';
import { chunksOf } from './chunks.js';
import type { Session } from './dialect.js';
import { conditionsOf } from './filter.js';
import { marks } from './insert.js';
import { AT_ONCE } from './key-row.js';
import { saveCounts, type Owner } from './owner-row.js';
import { integerOf, textOf } from './row.js';
import type { Tables } from './tables.js';
import { toStored } from './text.js';

interface Found {
  readonly key: string;
  readonly hash: Buffer;
}

/** Releases the keys of letters that fit. Those that were skipped wait again, behind what their keys have. */
export async function retry(
  session: Session,
  tables: Tables,
  owner: Owner,
  filter: LetterFilter,
): Promise<string[]> {
  const found: Found[] = [];
  const { state } = filter;
  if (state === undefined || state === 'waiting')
    found.push(...(await withWaiting(session, tables, owner, filter)));
  if (state === undefined || state === 'skipped')
    found.push(...(await putBack(session, tables, owner, filter)));
  for (const chunk of chunksOf(found)) await release(session, tables, owner, chunk);
  return [...new Set(found.map(({ key }) => key))];
}

async function withWaiting(
  session: Session,
  { keys, letters, dialect }: Tables,
  owner: Owner,
  filter: LetterFilter,
): Promise<Found[]> {
  const fits = conditionsOf(owner.pipeline, { ...filter, state: 'waiting' }, dialect);
  const { rows } = await session.run(
    `select k.event_key, k.key_hash from ${keys} k where k.pipeline = ? and exists
      (select 1 from ${letters} l where l.key_hash = k.key_hash${fits.sql})`,
    [owner.id, ...fits.values],
  );
  return rows.map((row) => ({ key: textOf(row, 'event_key'), hash: row['key_hash'] as Buffer }));
}

/** They keep their order among themselves: all places move by the same distance. */
async function putBack(
  session: Session,
  tables: Tables,
  owner: Owner,
  filter: LetterFilter,
): Promise<Found[]> {
  const { letters, dialect } = tables;
  const fits = conditionsOf(owner.pipeline, { ...filter, state: 'skipped' }, dialect);
  const { rows } = await session.run(
    `select min(l.id) as one, min(l.place) as lowest, max(l.place) as highest from ${letters} l
      where l.pipeline = ?${fits.sql} group by l.key_hash`,
    [owner.id, ...fits.values],
  );
  if (rows.length === 0) return [];
  const lowest = rows.reduce((least, row) => Math.min(least, integerOf(row, 'lowest')), Infinity);
  const highest = rows.reduce((most, row) => Math.max(most, integerOf(row, 'highest')), -Infinity);
  const distance = owner.nextPlace - lowest;
  const change = "state = 'waiting', place = place + ?";
  await changeAll(session, tables, owner.id, fits, change, [distance]);
  await saveCounts(session, tables, { ...owner, nextPlace: highest + distance + 1 });
  const found: Found[] = [];
  for (const chunk of chunksOf(rows.map((row) => String(row['one'])))) {
    const texts = await session.run(
      `select event_key, key_hash from ${letters} where id in (${marks(chunk.length)})`,
      chunk,
    );
    found.push(
      ...texts.rows.map((row) => ({ key: textOf(row, 'event_key'), hash: row['key_hash'] as Buffer })),
    );
  }
  return found;
}

/** Makes the rows of keys that have none, counts what waits, and releases them. */
async function release(
  session: Session,
  { keys, letters, dialect }: Tables,
  owner: Owner,
  found: readonly Found[],
): Promise<void> {
  await session.run(
    dialect.insertNew(keys, ['pipeline', 'key_hash', 'event_key', 'waiting'], found.length),
    found.flatMap(({ key, hash }) => [owner.id, hash, toStored(key), 0]),
  );
  await session.run(
    `update ${keys} k set release_at = ?, waiting = (select count(*) from ${letters} l
      where l.key_hash = k.key_hash and l.state = 'waiting')
     where k.pipeline = ? and k.key_hash in (${marks(found.length)})`,
    [AT_ONCE, owner.id, ...found.map(({ hash }) => hash)],
  );
}
