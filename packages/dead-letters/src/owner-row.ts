import type { LetterFence } from '@strandline/core';
import type { Session } from './dialect.js';
import { LettersError } from './errors.js';
import { integerOf, textOrNull } from './row.js';
import type { Tables } from './tables.js';
import { VERSION } from './tables.js';
import { hashOf } from './text.js';

/** What the tables hold of a pipeline as a whole. */
export interface Owner {
  readonly id: number;
  /** Its name. */
  readonly pipeline: string;
  /** The highest epoch that has claimed it. */
  readonly epoch: number;
  /** The owner of that epoch has not stopped in order. */
  readonly running: boolean;
  /** Where everything was settled when it was claimed. */
  readonly watermark: string | null;
  /** How many owners in a row, up to the one before, have not stopped in order at that watermark. */
  readonly crashes: number;
  /** What the owner before ran alone when it ended. */
  readonly crashSuspect: string | null;
  readonly suspect: string | null;
  /** Letters that are waiting or skipped: what the limit for all counts. */
  readonly held: number;
  /** Places grow from here on, behind all that there are. */
  readonly nextPlace: number;
  /** Places shrink from here on, in front of all that there are. */
  readonly firstPlace: number;
}

/**
 * Locks the row of a pipeline until the transaction ends. Everything that changes something begins with it, so that
 * no two changes of one pipeline meet, and none waits for another in a circle.
 */
export async function lockOwner(
  session: Session,
  { owners, name }: Tables,
  pipeline: string,
): Promise<Owner | null> {
  const { rows } = await session.run(`select * from ${owners} where pipeline_hash = ? for update`, [
    hashOf(pipeline),
  ]);
  const [row] = rows;
  if (row === undefined) return null;
  const version = integerOf(row, 'version');
  if (version !== VERSION) {
    throw new LettersError(
      'LETTERS_SCHEMA',
      `The dead-letter table at ${name} is of version ${String(version)}, and this is made for version ${String(VERSION)}.`,
      'Run one version of Strandline with one table, or choose another prefix.',
    );
  }
  return {
    id: integerOf(row, 'id'),
    pipeline,
    epoch: integerOf(row, 'epoch'),
    running: integerOf(row, 'running') === 1,
    watermark: textOrNull(row, 'watermark'),
    crashes: integerOf(row, 'crashes'),
    crashSuspect: textOrNull(row, 'crash_suspect'),
    suspect: textOrNull(row, 'suspect'),
    held: integerOf(row, 'held'),
    nextPlace: integerOf(row, 'next_place'),
    firstPlace: integerOf(row, 'first_place'),
  };
}

/** The row, locked, for a writer that must not be a former owner. */
export async function fencedOwner(
  session: Session,
  tables: Tables,
  fence: LetterFence,
): Promise<Owner | 'fenced'> {
  const owner = await lockOwner(session, tables, fence.pipeline);
  if (owner === null) {
    throw new LettersError(
      'LETTERS_SCHEMA',
      `The dead-letter table at ${tables.name} knows nothing of the pipeline ${JSON.stringify(fence.pipeline)} any more: somebody has emptied it while it was in use.`,
      'Restart the pipeline. What waited there is lost, unless a backup has it.',
    );
  }
  return owner.epoch > fence.epoch ? 'fenced' : owner;
}

/** Saves what letters that came and went have changed. */
export async function saveCounts(session: Session, { owners }: Tables, owner: Owner): Promise<void> {
  await session.run(`update ${owners} set held = ?, next_place = ?, first_place = ? where id = ?`, [
    ...[owner.held, owner.nextPlace, owner.firstPlace, owner.id],
  ]);
}
