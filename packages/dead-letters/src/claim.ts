import type { CrashRecord, LetterFence, ParkedKey } from '@strandline/core';
import { CHUNK } from './chunks.js';
import type { Session } from './dialect.js';
import { stateOf } from './key-row.js';
import { fencedOwner, lockOwner, type Owner } from './owner-row.js';
import { integerOf, textOf, textOrNull } from './row.js';
import type { Tables } from './tables.js';
import { hashOf, toStored, toStoredOrNull } from './text.js';

/** Takes the tables for an epoch. Repeated by the same owner it changes nothing, and tells the same of crashes. */
export async function claim(
  session: Session,
  tables: Tables,
  fence: LetterFence,
  watermark: string,
): Promise<{ keys: ParkedKey[]; crashes: CrashRecord } | 'fenced'> {
  const owner =
    (await lockOwner(session, tables, fence.pipeline)) ?? (await insertOwner(session, tables, fence));
  if (owner.epoch > fence.epoch) return 'fenced';
  const taken = owner.epoch === fence.epoch ? owner : takenBy(owner, fence.epoch, watermark);
  if (taken !== owner) {
    await session.run(
      `update ${tables.owners} set epoch = ?, running = 1, watermark = ?, crashes = ?, crash_suspect = ?,
        suspect = null where id = ?`,
      [taken.epoch, toStored(watermark), taken.crashes, toStoredOrNull(taken.crashSuspect), owner.id],
    );
    // What became live or was given up while nobody looked: to the new owner these keys were never parked.
    await session.run(`delete from ${tables.keys} where pipeline = ? and waiting = 0`, [owner.id]);
  }
  return {
    keys: await parkedKeys(session, tables, owner.id),
    crashes: { unclean: taken.crashes > 0, inARow: taken.crashes, suspect: taken.crashSuspect },
  };
}

function takenBy(owner: Owner, epoch: number, watermark: string): Owner {
  const stoodStill = owner.watermark === watermark;
  const crashes = owner.running ? (stoodStill ? owner.crashes : 0) + 1 : 0;
  return { ...owner, epoch, crashes, crashSuspect: owner.running ? owner.suspect : null };
}

async function insertOwner(session: Session, tables: Tables, { pipeline }: LetterFence): Promise<Owner> {
  const insert = tables.dialect.insertNew(tables.owners, ['pipeline_hash', 'pipeline_name'], 1);
  await session.run(insert, [hashOf(pipeline), toStored(pipeline)]);
  const owner = await lockOwner(session, tables, pipeline);
  if (owner === null) throw new Error('the row of a pipeline was deleted while it was made');
  return owner;
}

async function parkedKeys(session: Session, tables: Tables, pipeline: number): Promise<ParkedKey[]> {
  const parked: ParkedKey[] = [];
  for (let after = Buffer.alloc(0); ;) {
    const { rows } = await session.run(
      `select key_hash, event_key, waiting, release_at from ${tables.keys}
        where pipeline = ? and key_hash > ? order by key_hash limit ?`,
      [pipeline, after, CHUNK],
    );
    const hashes = rows.map((row) => row['key_hash'] as Buffer<ArrayBuffer>);
    const positions = await firstPositions(session, tables, hashes);
    rows.forEach((row, index) => {
      // A key whose letters somebody has deleted by hand has nothing to wait for.
      const position = positions.get(index);
      if (position === undefined) return;
      const state = stateOf(textOrNull(row, 'release_at'));
      parked.push({ key: textOf(row, 'event_key'), state, letters: integerOf(row, 'waiting'), position });
    });
    const last = hashes.at(-1);
    if (last === undefined || hashes.length < CHUNK) return parked;
    after = last;
  }
}

/**
 * Where the first waiting letter of each key lies. One look into the index for each: a subquery that depends on the
 * key makes MySQL read the whole table for each, when most letters are of one key.
 */
async function firstPositions(
  session: Session,
  { letters }: Tables,
  hashes: readonly Buffer[],
): Promise<Map<number, string>> {
  if (hashes.length === 0) return new Map();
  const looks = hashes.map(
    (_, index) => `(select ${String(index)} as n, log_position from ${letters}
      where key_hash = ? and state = 'waiting' order by place limit 1)`,
  );
  const { rows } = await session.run(looks.join(' union all '), hashes);
  return new Map(rows.map((row) => [integerOf(row, 'n'), textOf(row, 'log_position')]));
}

/** Notes what is run alone. */
export async function noteSuspect(
  session: Session,
  tables: Tables,
  fence: LetterFence,
  identity: string | null,
): Promise<'stored' | 'fenced'> {
  const owner = await fencedOwner(session, tables, fence);
  if (owner === 'fenced') return 'fenced';
  await session.run(`update ${tables.owners} set suspect = ? where id = ?`, [
    toStoredOrNull(identity),
    owner.id,
  ]);
  return 'stored';
}

/** The owner has stopped in order; a former one has nothing to say. */
export async function release(session: Session, tables: Tables, fence: LetterFence): Promise<void> {
  const owner = await lockOwner(session, tables, fence.pipeline);
  if (owner === null || owner.epoch > fence.epoch) return;
  await session.run(`update ${tables.owners} set running = 0, suspect = null where id = ?`, [owner.id]);
}
