import type {
  CrashRecord,
  DeadLetter,
  DeadLetterDesk,
  DeadLetterStore,
  Failure,
  LetterFence,
  LetterLimits,
  LetterResult,
  LetterState,
  NewLetter,
  ParkedKey,
} from '@strandline/core';
import { StrandlineError } from '@strandline/core';

/** A letter of the fake, whose state changes. */
type Kept = Omit<DeadLetter, 'state' | 'failure'> & {
  state: LetterState;
  failure: Failure | null;
  /** The epoch that has handled it. */
  handledIn?: number;
};

const UNAVAILABLE = (): Error =>
  new StrandlineError('LETTERS_UNAVAILABLE', 'The table is away.', 'Wait.', { transient: true });

/** A dead-letter table in memory, that can be away, fenced, full or slow. */
export class FakeLetters implements DeadLetterStore {
  readonly name = 'fake';
  readonly letters: Kept[] = [];
  readonly releasedKeys = new Set<string>();
  /** When keys that failed are to be released by themselves, in the order of the failures. */
  readonly retryAts: (string | null)[] = [];
  /** How often it was asked for released keys. */
  polls = 0;
  readonly suspected: (string | null)[] = [];
  away = false;
  /** An event that is too large for the table. */
  refuses: string | null = null;
  fenced = false;
  endedInOrder = 0;
  crashes: CrashRecord = { unclean: false, inARow: 0, suspect: null };
  /** Awaited in each call, before it is done. */
  before: () => Promise<void> = () => Promise.resolve();
  #places = 0;
  #epoch = 0;
  #ids = 0;

  waiting(key: string): Kept[] {
    return this.letters
      .filter((letter) => letter.event.key === key && letter.state === 'waiting')
      .sort((a, b) => a.place - b.place);
  }

  idsWaiting(key: string): string[] {
    return this.waiting(key).map(({ event }) => event.id);
  }

  async claim(
    fence: LetterFence = { pipeline: 'shop', epoch: this.#epoch },
  ): Promise<{ keys: readonly ParkedKey[]; crashes: CrashRecord } | 'fenced'> {
    await this.#open(fence);
    this.#epoch = fence.epoch;
    // What became live or was given up while nobody looked was never parked to the new owner.
    for (const key of this.releasedKeys) if (this.waiting(key).length === 0) this.releasedKeys.delete(key);
    const keys = new Set(
      this.letters.filter(({ state }) => state === 'waiting').map(({ event }) => event.key),
    );
    return {
      keys: [...keys].map((key) => ({
        key,
        state: this.releasedKeys.has(key) ? 'released' : 'parked',
        letters: this.waiting(key).length,
        position: this.waiting(key)[0]?.event.position ?? '',
      })),
      crashes: this.crashes,
    };
  }

  async park(
    fence: LetterFence,
    key: string,
    letters: readonly NewLetter[],
    where: 'behind' | 'front',
    { perKey }: LetterLimits,
    retryAt: string | null = null,
  ): Promise<LetterResult> {
    if ((await this.#open(fence)) === 'fenced') return 'fenced';
    this.#mustTake(letters);
    const isOver = ({ state, handledIn = Infinity }: Kept): boolean =>
      state === 'handled' && handledIn < this.#epoch;
    const ids = new Set(letters.map(({ event }) => event.id));
    this.letters.splice(
      0,
      Infinity,
      ...this.letters.filter((known) => !(ids.has(known.event.id) && isOver(known))),
    );
    const fresh = letters.filter(({ event }) => !this.letters.some((known) => known.event.id === event.id));
    if (this.waiting(key).length + fresh.length > perKey) return 'full';
    const first = this.waiting(key)[0]?.place ?? 0;
    const [{ reason } = { reason: 'behind' }] = letters;
    if (reason === 'overflow' && this.waiting(key).length === 0) this.releasedKeys.add(key);
    if (reason === 'failed' || reason === 'crash' || reason === 'operator') {
      this.releasedKeys.delete(key);
      this.retryAts.push(retryAt);
    }
    fresh.forEach((letter, i) => {
      this.#places += 1;
      const place = where === 'front' ? first - fresh.length + i : this.#places;
      const id = this.#nextId();
      this.letters.push({ ...letter, id, place, state: 'waiting', parkedAt: '2026-01-01T00:00:00.000Z' });
    });
    return 'stored';
  }

  async skip(fence: LetterFence, letter: NewLetter): Promise<LetterResult> {
    if ((await this.#open(fence)) === 'fenced') return 'fenced';
    this.#mustTake([letter]);
    const id = this.#nextId();
    this.letters.push({ ...letter, id, place: 0, state: 'skipped', parkedAt: '2026-01-01T00:00:00.000Z' });
    return 'stored';
  }

  async read(fence: LetterFence, key: string, limit: number): Promise<readonly DeadLetter[]> {
    await this.#open(fence);
    return this.waiting(key).slice(0, limit);
  }

  async handled(fence: LetterFence, letters: readonly DeadLetter[]): Promise<LetterResult> {
    if ((await this.#open(fence)) === 'fenced') return 'fenced';
    for (const letter of letters)
      Object.assign(this.#kept(letter), { state: 'handled', handledIn: fence.epoch });
    return 'stored';
  }

  async failed(
    fence: LetterFence,
    letter: DeadLetter,
    failure: Failure,
    retryAt: string | null,
  ): Promise<LetterResult> {
    if ((await this.#open(fence)) === 'fenced') return 'fenced';
    this.#kept(letter).failure = failure;
    this.retryAts.push(retryAt);
    this.releasedKeys.delete(letter.event.key);
    return 'stored';
  }

  async unpark(fence: LetterFence, key: string): Promise<boolean | 'fenced'> {
    if ((await this.#open(fence)) === 'fenced') return 'fenced';
    if (this.waiting(key).length > 0) return false;
    this.releasedKeys.delete(key);
    return true;
  }

  async released(fence: LetterFence): Promise<readonly string[]> {
    this.polls += 1;
    await this.#open(fence);
    return [...this.releasedKeys];
  }

  async prune(fence: LetterFence, isSettled: (position: string) => boolean): Promise<number> {
    await this.#open(fence);
    const before = this.letters.length;
    const kept = this.letters.filter(
      ({ state, event }) => state === 'waiting' || state === 'skipped' || !isSettled(event.position),
    );
    this.letters.splice(0, before, ...kept);
    return before - kept.length;
  }

  async suspect(fence: LetterFence, identity: string | null): Promise<'stored' | 'fenced'> {
    await this.#open(fence);
    this.suspected.push(identity);
    return 'stored';
  }

  release(): Promise<void> {
    this.endedInOrder += 1;
    return Promise.resolve();
  }

  desk(): DeadLetterDesk {
    throw new Error('a fake has no desk');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #mustTake(letters: readonly NewLetter[]): void {
    if (letters.some(({ event }) => event.id === this.refuses))
      throw new StrandlineError('LETTERS_REFUSED', 'The letter is too large.', 'Make it smaller.');
  }

  #nextId(): string {
    this.#ids += 1;
    return String(this.#ids);
  }

  async #open({ epoch }: LetterFence): Promise<'fenced' | 'mine'> {
    await this.before();
    if (this.away) throw UNAVAILABLE();
    return this.fenced || epoch < this.#epoch ? 'fenced' : 'mine';
  }

  #kept({ id }: DeadLetter): Kept {
    const kept = this.letters.find((letter) => letter.id === id);
    if (kept === undefined) throw new Error(`there is no letter ${id}`);
    return kept;
  }
}
