import { diffWordsWithSpace } from 'diff';

export interface Change {
  readonly text: string;
  readonly kind: 'same' | 'added' | 'removed';
}

/** Longer texts are compared as wholes: comparing takes time with the square of their length. */
const LONGEST = 4_000;

/** What became of one text in another, word by word. */
export function changesBetween(before: string, after: string): Change[] {
  if (before === after) return [{ text: after, kind: 'same' }];
  if (before.length > LONGEST || after.length > LONGEST) {
    return [
      { text: before, kind: 'removed' },
      { text: after, kind: 'added' },
    ];
  }
  return diffWordsWithSpace(before, after).map(({ value, added, removed }) => ({
    text: value,
    kind: added ? 'added' : removed ? 'removed' : 'same',
  }));
}
