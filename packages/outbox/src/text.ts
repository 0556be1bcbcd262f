/** Whether a text is the same after it was sent as UTF-8 and stored by any of the servers. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && isWellFormed(text);
}

/** Whether all of it is characters: half of a surrogate pair has no UTF-8. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

export const STORABLE = 'no NUL character and no half of a surrogate pair, which a server refuses or changes';

/** As VARCHAR counts: code points. */
export function isLongerThan(text: string, characters: number): boolean {
  return text.length > characters && Array.from(text).length > characters;
}
