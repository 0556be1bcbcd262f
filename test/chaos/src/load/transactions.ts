import type { OutboxRow, Random } from '@strandline/test-kit';
import { BROKEN } from './broken.js';
import { drawKey, FIRST_ODD, keyName } from './keys.js';

/** One thing that a session does in a transaction. */
export type Step =
  | { readonly does: 'insert'; readonly rows: readonly OutboxRow[] }
  /** A row of a table that nobody watches. */
  | { readonly does: 'other' }
  | { readonly does: 'linger'; readonly ms: number }
  | { readonly does: 'savepoint' }
  /** Undoes what came since the savepoint. */
  | { readonly does: 'back' };

export interface Transaction {
  readonly steps: readonly Step[];
  readonly ends: 'commit' | 'rollback';
  /** Milliseconds until the session begins the next one. */
  readonly rest: number;
}

type Kind = 'plain' | 'late' | 'rows' | 'rollback' | 'savepoint' | 'other' | 'big' | 'broken';

const WEIGHTS: Readonly<Record<Kind, number>> = {
  plain: 50,
  late: 6,
  rows: 14,
  rollback: 8,
  savepoint: 8,
  other: 10,
  big: 0.08,
  broken: 0.15,
};

/** With four sessions some 150 rows a second. */
const MOST_REST = 120;
/** Rows of one statement. */
const STATEMENT = 1_000;

/** The next transaction of a session: all of it is drawn before any of it is done. */
export function drawTransaction(random: Random): Transaction {
  const steps = drawSteps(random, random.weighted(WEIGHTS));
  const rest = random.between(10, MOST_REST);
  if (steps === 'rollback') {
    return { steps: [rows(random, 1, 5), linger(random, 30)], ends: 'rollback', rest };
  }
  return { steps, ends: 'commit', rest };
}

function drawSteps(random: Random, kind: Kind): readonly Step[] | 'rollback' {
  switch (kind) {
    case 'plain':
      return [rows(random, 1, 3), linger(random, 10)];
    case 'late':
      // The id is taken now, and the row appears behind many that are younger.
      return [rows(random, 1, 2), linger(random, 3_000), rows(random, 0, 2)];
    case 'rows':
      return [rows(random, 2, 12), rows(random, 1, 4)];
    case 'rollback':
      return 'rollback';
    case 'savepoint':
      return [
        rows(random, 1, 3),
        { does: 'savepoint' },
        rows(random, 1, 4),
        linger(random, 20),
        ...(random.chance(0.7) ? [{ does: 'back' } as const] : []),
        rows(random, 0, 3),
      ];
    case 'other':
      return [{ does: 'other' }, rows(random, 0, 2), { does: 'other' }];
    case 'big':
      return bigSteps(random);
    case 'broken':
      return [{ does: 'insert', rows: [{ key: drawSoundKey(random), payload: random.pick(BROKEN) }] }];
  }
}

/** More rows than are held in memory, and, when it is long, more than fit into the window. */
function bigSteps(random: Random): Step[] {
  const count = random.between(5, 20);
  return Array.from({ length: count }, () => ({
    does: 'insert',
    rows: Array.from({ length: STATEMENT }, () => ({ key: keyName(random.between(0, FIRST_ODD - 1)) })),
  }));
}

function rows(random: Random, least: number, most: number): Step {
  const count = random.between(least, most);
  return { does: 'insert', rows: Array.from({ length: count }, () => row(random)) };
}

function row(random: Random): OutboxRow {
  return { key: drawKey(random), payload: 'x'.repeat(random.between(0, 200)) };
}

function linger(random: Random, most: number): Step {
  return { does: 'linger', ms: random.between(0, most) };
}

/** One whose events fail for no other reason. */
function drawSoundKey(random: Random): string {
  return keyName(random.between(1, FIRST_ODD - 1));
}
