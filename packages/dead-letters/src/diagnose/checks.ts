import {
  answerOf,
  fail,
  pass,
  warn,
  type Asked,
  type Check,
  type Verdict,
  type LetterLimits,
} from '@strandline/core';

/** What was found of the tables of dead letters. */
export interface LettersFacts {
  readonly limits: LetterLimits;
  /** What is wrong with the database as a whole; null when nothing is. */
  readonly database: Asked<string | null>;
  readonly tables: Asked<TablesState>;
  /** Null while the tables are not there. */
  readonly held: Asked<HeldLetters | null>;
}

export type TablesState =
  | { readonly kind: 'usable' }
  /** Some are not there, or can't be seen. */
  | { readonly kind: 'missing'; readonly mayCreate: 'yes' | 'no' | 'unknown'; readonly ddl: string }
  /** They are not what they must be, or may not be used. */
  | { readonly kind: 'unusable'; readonly problem: string; readonly remedy: string };

export interface HeldLetters {
  /** Letters that wait or were skipped, and those of the key that has most of them waiting. */
  readonly all: number;
  readonly ofKey: number;
  readonly keys: number;
  /** Seconds since the first of those that wait was parked; null when none waits. */
  readonly oldest: number | null;
}

/** Of a limit. */
const NEAR = 0.8;
/** Seconds. Whoever is to look at letters looks once a day. */
const LONG = 86_400;

export const LETTERS_CHECKS: readonly Check<LettersFacts>[] = [
  {
    check: 'letters-database',
    why: 'A letter keeps every text of its event.',
    judge: ({ database }: LettersFacts): Verdict | null => {
      const problem = answerOf(database);
      return problem === null
        ? pass('it holds every text')
        : fail(problem, 'Name another database in deadLetters({ … }).');
    },
  },
  {
    check: 'letters-tables',
    why: 'An event that fails for good is kept there; while it can not be, its key holds the log.',
    judge: ({ tables: asked }: LettersFacts): Verdict | null => {
      const tables = answerOf(asked);
      if (tables.kind === 'usable') return pass('they are there, and may be used');
      if (tables.kind === 'unusable') return fail(tables.problem, tables.remedy);
      const { mayCreate, ddl } = tables;
      if (mayCreate === 'yes') return pass('they are not there yet: the first start makes them');
      return mayCreate === 'no'
        ? fail('they are not there, and this user may not make them', ddl)
        : warn('they are not there, and it is not known whether this user may make them', ddl);
    },
  },
  {
    check: 'letters-limits',
    why: 'At a limit the key halts and holds the log.',
    judge: ({ held: asked, limits }: LettersFacts): Verdict | null => {
      const held = answerOf(asked);
      if (held === null) return null;
      const found = `${String(held.all)} of ${String(limits.inAll)} letters, ${String(held.ofKey)} of ${String(limits.perKey)} for one key`;
      const share = Math.max(held.all / limits.inAll, held.ofKey / limits.perKey);
      const remedy =
        'strandline dead-letters list, then retry, skip or discard; or raise parking.limits in definePipeline({ … }).';
      if (share >= 1) return fail(found, remedy);
      return share >= NEAR ? warn(found, remedy) : pass(found);
    },
  },
  {
    check: 'letters-waiting',
    why: 'Every later event of a parked key waits behind its letters.',
    judge: ({ held: asked }: LettersFacts): Verdict | null => {
      const held = answerOf(asked);
      if (held === null) return null;
      if (held.oldest === null) return pass('no key is parked');
      const found = `${String(held.keys)} ${held.keys === 1 ? 'key is' : 'keys are'} parked, one for ${hours(held.oldest)}`;
      return held.oldest < LONG
        ? pass(found)
        : warn(found, 'strandline dead-letters list --state waiting --older-than 24h');
    },
  },
];

function hours(seconds: number): string {
  return seconds < 3_600 ? `${String(Math.round(seconds / 60))} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
