import type { LetterLimits, LetterReason, LetterResult, LetterState, NewLetter } from '@strandline/core';
import { chunksOf, chunksOfBytes } from './chunks.js';
import type { Session } from './dialect.js';
import { insertInto, marks } from './insert.js';
import { AT_ONCE, insertKey, readKey, saveKey, type KeyRow } from './key-row.js';
import { identityHash, INSERTED, toRow } from './letter-rows.js';
import { saveCounts, type Owner } from './owner-row.js';
import { integerOf } from './row.js';
import type { Tables } from './tables.js';

/** Characters of one statement, about: far below the longest packet that a server of today allows. */
const STATEMENT = 1024 * 1024;

/** A letter whose event the tables have not seen yet. */
interface Fresh extends NewLetter {
  readonly identity: Buffer;
}

export interface ParkRequest {
  readonly key: string;
  readonly letters: readonly NewLetter[];
  readonly where: 'behind' | 'front';
  readonly limits: LetterLimits;
  readonly retryAt: string | null;
}

/** Stores those letters of a key that are not there yet. */
export async function park(
  session: Session,
  tables: Tables,
  owner: Owner,
  { key, letters, where, limits, retryAt }: ParkRequest,
): Promise<LetterResult> {
  const fresh = await unseen(session, tables, owner, letters);
  const row = await readKey(session, tables, owner, key);
  const count = fresh.length;
  const waiting = (row?.waiting ?? 0) + count;
  if (count > 0 && (waiting > limits.perKey || owner.held + count > limits.inAll)) return 'full';
  const place = where === 'behind' ? owner.nextPlace : owner.firstPlace - count;
  await insert(session, tables, owner, fresh, { state: 'waiting', place });
  if (count > 0) {
    await saveCounts(session, tables, {
      ...owner,
      held: owner.held + count,
      ...(where === 'behind' ? { nextPlace: place + count } : { firstPlace: place }),
    });
  }
  const after = { waiting, releaseAt: releaseAfter(row, fresh, retryAt) };
  if (row === null) await insertKey(session, tables, owner, key, after);
  else if (count > 0) await saveKey(session, tables, owner, key, after);
  return 'stored';
}

/**
 * When a key is released after letters came to it. One that failed holds its key; others leave it as it was. A key that
 * was live has nothing to wait for when all that came was done before, or is here for want of room only.
 */
function releaseAfter(row: KeyRow | null, fresh: readonly Fresh[], retryAt: string | null): string | null {
  const has = (...reasons: LetterReason[]): boolean => fresh.some(({ reason }) => reasons.includes(reason));
  if (has('failed', 'crash', 'operator')) return retryAt;
  if (row !== null) return row.releaseAt;
  return has('behind') ? retryAt : AT_ONCE;
}

/** Stores a letter that holds nothing up. */
export async function skip(
  session: Session,
  tables: Tables,
  owner: Owner,
  letter: NewLetter,
  limits: LetterLimits,
): Promise<LetterResult> {
  const fresh = await unseen(session, tables, owner, [letter]);
  if (fresh.length === 0) return 'stored';
  if (owner.held + 1 > limits.inAll) return 'full';
  await insert(session, tables, owner, fresh, { state: 'skipped', place: owner.nextPlace });
  await saveCounts(session, tables, { ...owner, held: owner.held + 1, nextPlace: owner.nextPlace + 1 });
  return 'stored';
}

/**
 * Those whose events are not there yet, in whatever state: what a log brings again keeps its place. What an earlier owner
 * has handled is forgotten instead: it is handled again, in its place among what the log brings again with it.
 */
async function unseen(
  session: Session,
  { letters: table }: Tables,
  { pipeline, epoch }: Owner,
  letters: readonly NewLetter[],
): Promise<Fresh[]> {
  const fresh = new Map<string, Fresh>();
  for (const letter of letters) {
    const identity = identityHash(pipeline, letter.event);
    const id = identity.toString('hex');
    if (!fresh.has(id)) fresh.set(id, { ...letter, identity });
  }
  for (const chunk of chunksOf([...fresh.values()])) {
    const { rows } = await session.run(
      `select id, identity_hash, state, handled_in from ${table} where identity_hash in (${marks(chunk.length)})`,
      chunk.map(({ identity }) => identity),
    );
    const over: string[] = [];
    for (const row of rows) {
      if (row['state'] === 'handled' && integerOf(row, 'handled_in') < epoch) over.push(String(row['id']));
      else fresh.delete((row['identity_hash'] as Buffer).toString('hex'));
    }
    if (over.length > 0) await session.run(`delete from ${table} where id in (${marks(over.length)})`, over);
  }
  return [...fresh.values()];
}

async function insert(
  session: Session,
  { letters: table }: Tables,
  owner: Owner,
  letters: readonly Fresh[],
  { state, place }: { readonly state: LetterState; readonly place: number },
): Promise<void> {
  const parkedAt = new Date().toISOString();
  let at = place;
  for (const chunk of chunksOfBytes(letters, ({ event }) => event.bytes, STATEMENT)) {
    const rows = chunk.map((letter) => {
      const row = toRow({ ...letter, owner, state, parkedAt, place: at });
      at += 1;
      return row;
    });
    await session.run(insertInto(table, INSERTED, rows.length), rows.flat());
  }
}
