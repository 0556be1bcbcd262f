import type { ParkedKeyState } from '@strandline/core';
import type { Session } from './dialect.js';
import type { Owner } from './owner-row.js';
import { integerOf, textOrNull } from './row.js';
import type { Tables } from './tables.js';
import { hashOf, toStored } from './text.js';

/**
 * When a key that was released by somebody is due: long ago. Nobody's clock has a say in it, and it comes before
 * those that are due by their schedule.
 */
export const AT_ONCE = '1970-01-01T00:00:00.000Z';

/** What the tables hold of a parked key. */
export interface KeyRow {
  readonly waiting: number;
  /** It is released from then on; null when it waits for somebody. */
  readonly releaseAt: string | null;
}

export function stateOf(releaseAt: string | null): ParkedKeyState {
  return releaseAt !== null && releaseAt <= new Date().toISOString() ? 'released' : 'parked';
}

/** The row of a key; the lock on its owner keeps it as it is. */
export async function readKey(
  session: Session,
  { keys }: Tables,
  owner: Owner,
  key: string,
): Promise<KeyRow | null> {
  const { rows } = await session.run(
    `select waiting, release_at from ${keys} where pipeline = ? and key_hash = ? for update`,
    [owner.id, hashOf(owner.pipeline, key)],
  );
  const [row] = rows;
  return row === undefined
    ? null
    : { waiting: integerOf(row, 'waiting'), releaseAt: textOrNull(row, 'release_at') };
}

export async function insertKey(
  session: Session,
  { keys }: Tables,
  owner: Owner,
  key: string,
  { waiting, releaseAt }: KeyRow,
): Promise<void> {
  await session.run(
    `insert into ${keys} (pipeline, key_hash, event_key, waiting, release_at) values (?, ?, ?, ?, ?)`,
    [owner.id, hashOf(owner.pipeline, key), toStored(key), waiting, releaseAt],
  );
}

export async function saveKey(
  session: Session,
  { keys }: Tables,
  owner: Owner,
  key: string,
  { waiting, releaseAt }: KeyRow,
): Promise<void> {
  await session.run(`update ${keys} set waiting = ?, release_at = ? where pipeline = ? and key_hash = ?`, [
    ...[waiting, releaseAt, owner.id, hashOf(owner.pipeline, key)],
  ]);
}

/** So many letters less wait. */
export async function countDown(
  session: Session,
  { keys }: Tables,
  owner: Owner,
  key: string,
  fewer: number,
): Promise<void> {
  await session.run(`update ${keys} set waiting = waiting - ? where pipeline = ? and key_hash = ?`, [
    ...[fewer, owner.id, hashOf(owner.pipeline, key)],
  ]);
}

/** From when on it is released; a key without a row stays without. */
export async function releaseKey(
  session: Session,
  { keys }: Tables,
  owner: Owner,
  key: string,
  releaseAt: string | null,
): Promise<void> {
  await session.run(`update ${keys} set release_at = ? where pipeline = ? and key_hash = ?`, [
    ...[releaseAt, owner.id, hashOf(owner.pipeline, key)],
  ]);
}
