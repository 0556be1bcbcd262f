import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { check, type CommittedEvent, type Delivery, type Verdict } from '../src/checker.js';

/** `a1 a2 b1` → what was committed: the letter is the key, the whole word the id. */
function committed(words: string): CommittedEvent[] {
  return split(words).map((id) => ({ key: id.charAt(0), id }));
}

/** `a1 a2 | a2 a3!` → what was given: `|` is a crash, `!` marks one that began while another was running. */
function delivered(words: string): Delivery[] {
  return words.split('|').flatMap((life, run) =>
    split(life).map((word) => ({
      key: word.charAt(0),
      id: word.replace('!', ''),
      run,
      alone: !word.endsWith('!'),
    })),
  );
}

function split(words: string): string[] {
  return words.split(/\s+/).filter((word) => word !== '');
}

function brief(verdict: Verdict): {
  handled: number;
  missed: string;
  duplicates: number;
  violations: string;
} {
  return {
    handled: verdict.handled,
    missed: verdict.missed.map((event) => event.id).join(' '),
    duplicates: verdict.duplicates,
    violations: verdict.violations.map(({ kind, id }) => `${kind} ${id}`).join(', '),
  };
}

const fine = { missed: '', duplicates: 0, violations: '' };

describe('what a consumer may do', () => {
  test.each([
    ['nothing committed, nothing given', '', '', { handled: 0 }],
    ['one key in order', 'a1 a2 a3', 'a1 a2 a3', { handled: 3 }],
    ['keys overtake each other', 'a1 b1 a2 b2', 'b1 b2 a1 a2', { handled: 4 }],
    ['a crash without a repeat', 'a1 a2 a3', 'a1 | a2 a3', { handled: 3 }],
    ['a suffix again after a crash', 'a1 a2 a3', 'a1 a2 | a1 a2 a3', { handled: 3, duplicates: 2 }],
    ['the last event again, and no more', 'a1 a2', 'a1 a2 | a2', { handled: 2, duplicates: 1 }],
    [
      'a suffix again after each of two crashes',
      'a1 a2 a3',
      'a1 a2 | a2 | a2 a3',
      { handled: 3, duplicates: 2 },
    ],
    [
      'a crash in the middle of the repeated suffix',
      'a1 a2 a3',
      'a1 a2 a3 | a2 | a3',
      { handled: 3, duplicates: 2 },
    ],
    ['a key that a whole life passes by', 'a1 a2 b1', 'a1 | b1 | a1 a2', { handled: 3, duplicates: 1 }],
  ])('%s', (_name, outbox, given, expected) => {
    expect(brief(check(committed(outbox), delivered(given)))).toEqual({ ...fine, ...expected });
  });
});

describe('what it may not do', () => {
  test.each([
    ['a loss at the end', 'a1 a2 a3', 'a1 a2', { handled: 2, missed: 'a3' }],
    ['a key lost whole', 'a1 b1', 'a1', { handled: 1, missed: 'b1' }],
    [
      'a loss in the middle is a gap too',
      'a1 a2 a3',
      'a1 a3',
      { handled: 2, missed: 'a2', violations: 'gap a3' },
    ],
    ['a loss at the beginning', 'a1 a2', 'a2', { handled: 1, missed: 'a1', violations: 'gap a2' }],
    ['a swap', 'a1 a2', 'a2 a1', { handled: 2, violations: 'gap a2, swap a1, cut a1' }],
    [
      'a swap further on',
      'a1 a2 a3 a4',
      'a1 a3 a2 a4',
      { handled: 4, violations: 'gap a3, swap a2, gap a4' },
    ],
    ['a repeat without a crash', 'a1 a2', 'a1 a1 a2', { handled: 2, duplicates: 1, violations: 'swap a1' }],
    ['a gap across a crash', 'a1 a2 a3', 'a1 | a3', { handled: 2, missed: 'a2', violations: 'gap a3' }],
    [
      'a gap in the repeated suffix',
      'a1 a2 a3',
      'a1 a2 a3 | a1 a3',
      { handled: 3, duplicates: 2, violations: 'gap a3' },
    ],
    [
      'a hole between two repeats',
      'a1 a2 a3',
      'a1 a2 | a1 | a3',
      { handled: 3, duplicates: 1, violations: 'gap a3' },
    ],
    [
      'a repeat that is not seen through',
      'a1 a2 a3',
      'a1 a2 a3 | a1',
      { handled: 3, duplicates: 1, violations: 'cut a1' },
    ],
    ['two handlers at once', 'a1 a2', 'a1 a2!', { handled: 2, violations: 'overlap a2' }],
    ['an event that was never committed', 'a1', 'a1 a2', { handled: 1, violations: 'phantom a2' }],
  ])('%s', (_name, outbox, given, expected) => {
    expect(brief(check(committed(outbox), delivered(given)))).toEqual({ ...fine, ...expected });
  });

  test('an event under the wrong key', () => {
    const verdict = check([{ key: 'a', id: '1' }], [{ key: 'b', id: '1', run: 0, alone: true }]);
    expect(brief(verdict)).toEqual({ ...fine, handled: 0, missed: '1', violations: 'phantom 1' });
  });
});

/** A consumer that keeps the rule: each life goes on at, or before, where the last one stopped. */
const obedientLives = fc
  .record({
    length: fc.integer({ min: 2, max: 12 }),
    lives: fc.array(fc.record({ back: fc.nat(4), forth: fc.nat(6) }), { maxLength: 5 }),
  })
  .map(({ length, lives }) => {
    const history = Array.from({ length }, (_, index) => ({ key: 'a', id: `a${String(index)}` }));
    const given: Delivery[] = [];
    let next = 0;
    [...lives, { back: 2, forth: length }].forEach(({ back, forth }, run) => {
      next = Math.max(0, next - back);
      for (const event of history.slice(next, next + forth)) given.push({ ...event, run, alone: true });
      next = Math.min(length, next + forth);
    });
    return { history, given };
  });

describe('whatever the crashes', () => {
  test('a consumer that keeps the rule is acquitted', () => {
    fc.assert(
      fc.property(obedientLives, ({ history, given }) => {
        const verdict = check(history, given);
        expect(brief(verdict)).toEqual({
          ...fine,
          handled: history.length,
          duplicates: given.length - history.length,
        });
      }),
    );
  });

  test('an event taken out of every life is missed, and a gap unless it was the last', () => {
    fc.assert(
      fc.property(obedientLives, fc.nat(), ({ history, given }, at) => {
        const lost = history[at % history.length] as CommittedEvent;
        const verdict = check(
          history,
          given.filter((delivery) => delivery.id !== lost.id),
        );
        expect(verdict.missed).toEqual([lost]);
        expect(verdict.violations.some(({ kind }) => kind === 'gap')).toBe(lost !== history.at(-1));
      }),
    );
  });

  test('two neighbours that change places within a life are found', () => {
    fc.assert(
      fc.property(obedientLives, fc.nat(), ({ history, given }, at) => {
        const sameLife = given.flatMap((delivery, index) =>
          given[index + 1]?.run === delivery.run ? [index] : [],
        );
        fc.pre(sameLife.length > 0);
        const index = sameLife[at % sameLife.length] ?? 0;
        const swapped = given.toSpliced(index, 2, ...given.slice(index, index + 2).reverse());
        expect(check(history, swapped).violations).not.toHaveLength(0);
      }),
    );
  });
});
