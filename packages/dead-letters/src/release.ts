import type { DeadLetter, Failure, LetterResult, LetterState } from '@strandline/core';
import { chunksOf } from './chunks.js';
import type { Row, Session } from './dialect.js';
import { marks } from './insert.js';
import { countDown, readKey, releaseKey } from './key-row.js';
import { FAILURE, failureOf, toFailureColumns } from './letter-rows.js';
import { saveCounts, type Owner } from './owner-row.js';
import type { Tables } from './tables.js';
import { hashOf } from './text.js';

/** Released letters of one key were handled. Those that an operator has meanwhile skipped were handled all the same. */
export async function handled(
  session: Session,
  tables: Tables,
  owner: Owner,
  letters: readonly DeadLetter[],
): Promise<LetterResult> {
  const [first] = letters;
  if (first === undefined) return 'stored';
  const become = async (chunk: readonly DeadLetter[], state: LetterState): Promise<number> => {
    const { changed } = await session.run(
      `update ${tables.letters} set state = 'handled', handled_in = ?
        where id in (${marks(chunk.length)}) and pipeline = ? and state = ?`,
      [owner.epoch, ...chunk.map(({ id }) => id), owner.id, state],
    );
    return changed;
  };
  let [waited, skipped] = [0, 0];
  for (const chunk of chunksOf(letters)) {
    const count = await become(chunk, 'waiting');
    waited += count;
    if (count < chunk.length) skipped += await become(chunk, 'skipped');
  }
  if (waited + skipped === 0) return 'stored';
  await saveCounts(session, tables, { ...owner, held: owner.held - waited - skipped });
  if (waited > 0) await countDown(session, tables, owner, first.event.key, waited);
  return 'stored';
}

/** A released letter failed again. Said twice it does not take back a release that came in between. */
export async function failed(
  session: Session,
  tables: Tables,
  owner: Owner,
  letter: DeadLetter,
  failure: Failure,
  retryAt: string | null,
): Promise<LetterResult> {
  const found = await readLetter(session, tables, owner, letter);
  if (found?.['state'] !== 'waiting' || isSame(failureOf(found), failure)) return 'stored';
  const columns = FAILURE.map((column) => `${column} = ?`).join(', ');
  await session.run(`update ${tables.letters} set ${columns} where id = ?`, [
    ...toFailureColumns(failure),
    letter.id,
  ]);
  await releaseKey(session, tables, owner, letter.event.key, retryAt);
  return 'stored';
}

function isSame(known: Failure | null, failure: Failure): boolean {
  return (
    known !== null &&
    known.attempts === failure.attempts &&
    known.lastFailedAt === failure.lastFailedAt &&
    known.error.message === failure.error.message
  );
}

/** Whether the key is live now. It is looked at the letters themselves: somebody may have deleted some by hand. */
export async function unpark(session: Session, tables: Tables, owner: Owner, key: string): Promise<boolean> {
  const row = await readKey(session, tables, owner, key);
  if (row === null) return true;
  const hash = hashOf(owner.pipeline, key);
  const { rows } = await session.run(
    `select id from ${tables.letters} where key_hash = ? and state = 'waiting' limit 1`,
    [hash],
  );
  if (rows.length > 0) return false;
  await session.run(`delete from ${tables.keys} where pipeline = ? and key_hash = ?`, [owner.id, hash]);
  if (row.waiting !== 0) await saveCounts(session, tables, { ...owner, held: owner.held - row.waiting });
  return true;
}

async function readLetter(
  session: Session,
  { letters }: Tables,
  owner: Owner,
  { id }: DeadLetter,
): Promise<Row | undefined> {
  const { rows } = await session.run(
    `select state, ${FAILURE.join(', ')} from ${letters} where pipeline = ? and id = ?`,
    [owner.id, id],
  );
  return rows[0];
}
