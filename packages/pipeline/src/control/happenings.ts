import { shortError, type ShortError } from '@strandline/core';

/** Happenings of one key that are kept, the last ones. */
const PER_KEY = 50;
/** … and of all keys, with their size in characters: those of the keys that nothing has happened to for longest go first. */
const IN_ALL = 5_000;
const LONGEST_OF_ALL = 1024 * 1024;
/** Characters that one takes beside its texts. */
const OVERHEAD = 100;

export type HappeningKind =
  /** An attempt has failed. */
  | 'failed'
  /** A handler takes longer than `handlerTimeout`. */
  | 'stuck'
  | 'halted'
  | 'parked'
  /** Its head is in the dead-letter table, and it has gone on. */
  | 'skipped'
  /** All its letters are handled. */
  | 'live again'
  /** By an operator: held, released, and its head tried before its time. */
  | 'held'
  | 'released'
  | 'retried';

/** Something that happened to a key. Nothing of a payload is in it. */
export interface Happening {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly what: HappeningKind;
  /** The event that it happened to. */
  readonly position?: string;
  readonly attempt?: number;
  readonly error?: ShortError;
  readonly by?: string;
  readonly note?: string;
}

/** What is told of one, with the error as it was thrown. */
export type Happened = Omit<Happening, 'at' | 'error'> & { readonly thrown?: unknown };

/** What has happened lately to keys that something happened to: written at failures and by operators, never for an event. */
export class Happenings {
  /** The key that something has happened to last is last. */
  readonly #keys = new Map<string, Happening[]>();
  #count = 0;
  #length = 0;

  add(key: string, { thrown, ...rest }: Happened): void {
    const happening: Happening = {
      at: new Date().toISOString(),
      ...rest,
      ...(thrown === undefined ? {} : { error: shortError(thrown) }),
    };
    const kept = this.#keys.get(key) ?? [];
    this.#keys.delete(key);
    this.#keys.set(key, kept);
    kept.push(happening);
    this.#count += 1;
    this.#length += lengthOf(key, happening);
    if (kept.length > PER_KEY) this.#dropOldest(key, kept);
    while (this.#count > IN_ALL || this.#length > LONGEST_OF_ALL) this.#forgetOne();
  }

  /** Oldest first. */
  of(key: string): readonly Happening[] {
    return [...(this.#keys.get(key) ?? [])];
  }

  /** How many are kept, of all keys. */
  get size(): number {
    return this.#count;
  }

  #forgetOne(): void {
    for (const [key, kept] of this.#keys) {
      this.#dropOldest(key, kept);
      if (kept.length === 0) this.#keys.delete(key);
      return;
    }
  }

  #dropOldest(key: string, kept: Happening[]): void {
    const oldest = kept.shift();
    if (oldest === undefined) return;
    this.#count -= 1;
    this.#length -= lengthOf(key, oldest);
  }
}

function lengthOf(key: string, { position = '', error, by = '', note = '' }: Happening): number {
  const texts = [key, position, error?.name ?? '', error?.code ?? '', error?.message ?? '', by, note];
  return texts.reduce((sum, text) => sum + text.length, OVERHEAD);
}
