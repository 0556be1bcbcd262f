import {
  recordOf,
  restoreEvent,
  type CrashRecord,
  type DeadLetter,
  type Failure,
  type LetterFence,
  type LetterFilter,
  type LetterLimits,
  type LetterResult,
  type LetterState,
  type NewLetter,
  type OutboxEvent,
  type ParkedKey,
} from '@strandline/core';

/** Letters that park their key, whatever it was. */
const PARKS: ReadonlySet<NewLetter['reason']> = new Set(['failed', 'crash', 'operator']);

export interface StoredLetter {
  readonly id: number;
  readonly event: OutboxEvent;
  readonly reason: NewLetter['reason'];
  readonly parkedAt: number;
  place: number;
  state: LetterState;
  /** The epoch of the owner that has handled it. */
  handledIn: number;
  failure: Failure | null;
}

export interface StoredPipeline {
  epoch: number;
  running: boolean;
  watermark: string | null;
  crashes: CrashRecord;
  suspect: string | null;
  firstPlace: number;
  nextPlace: number;
  readonly letters: Map<string, StoredLetter>;
  /** When each parked key is released, Unix milliseconds; null when it waits for somebody. */
  readonly keys: Map<string, number | null>;
}

/** Released by somebody: before all schedules. */
export const AT_ONCE = 0;

/** What a dead-letter table holds, and what each call makes of it. */
export class LetterTable {
  readonly pipelines = new Map<string, StoredPipeline>();
  readonly #now: () => number;
  #lastId = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  claim(
    { pipeline, epoch }: LetterFence,
    watermark: string,
  ): { keys: ParkedKey[]; crashes: CrashRecord } | 'fenced' {
    const held = this.pipelines.get(pipeline) ?? emptyPipeline();
    this.pipelines.set(pipeline, held);
    if (held.epoch > epoch) return 'fenced';
    if (held.epoch < epoch) {
      const before = held.watermark === watermark ? held.crashes.inARow : 0;
      held.crashes = held.running
        ? { unclean: true, inARow: before + 1, suspect: held.suspect }
        : { unclean: false, inARow: 0, suspect: null };
      Object.assign(held, { epoch, running: true, watermark, suspect: null });
      for (const key of held.keys.keys()) if (waitingOf(held, key).length === 0) held.keys.delete(key);
    }
    const keys = [...held.keys].flatMap(([key, at]): ParkedKey[] => {
      const waiting = waitingOf(held, key);
      const [first] = waiting;
      if (first === undefined) return [];
      const state = this.isDue(at) ? 'released' : 'parked';
      return [{ key, state, letters: waiting.length, position: first.event.position }];
    });
    return { keys, crashes: held.crashes };
  }

  park(
    held: StoredPipeline,
    key: string,
    letters: readonly NewLetter[],
    where: 'behind' | 'front',
    limits: LetterLimits,
    retryAt: string | null,
  ): LetterResult {
    const fresh = unseen(held, letters);
    const waiting = waitingOf(held, key).length + fresh.length;
    if (fresh.length > 0 && (waiting > limits.perKey || heldIn(held) + fresh.length > limits.inAll))
      return 'full';
    const from = where === 'behind' ? held.nextPlace : held.firstPlace - fresh.length;
    if (where === 'behind') held.nextPlace += fresh.length;
    else held.firstPlace = from;
    fresh.forEach((letter, index) => {
      this.#insert(held, letter, 'waiting', from + index);
    });
    const at = retryAt === null ? null : Date.parse(retryAt);
    if (fresh.some(({ reason }) => PARKS.has(reason))) held.keys.set(key, at);
    else if (!held.keys.has(key))
      held.keys.set(key, fresh.some(({ reason }) => reason === 'behind') ? at : AT_ONCE);
    return 'stored';
  }

  skip(held: StoredPipeline, letter: NewLetter, limits: LetterLimits): LetterResult {
    if (unseen(held, [letter]).length === 0) return 'stored';
    if (heldIn(held) + 1 > limits.inAll) return 'full';
    this.#insert(held, letter, 'skipped', held.nextPlace);
    held.nextPlace += 1;
    return 'stored';
  }

  #insert(held: StoredPipeline, letter: NewLetter, state: LetterState, place: number): void {
    this.#lastId += 1;
    // As a database would: nothing of what the source made is kept but its texts.
    const event = restoreEvent(recordOf(letter.event));
    const { reason, failure } = letter;
    const parkedAt = this.#now();
    const stored = { id: this.#lastId, event, reason, failure, state, handledIn: NaN, place, parkedAt };
    held.letters.set(identityOf(letter.event), stored);
  }

  handled(held: StoredPipeline, letters: readonly DeadLetter[]): LetterResult {
    for (const { id } of letters) {
      const letter = byId(held, id);
      if (letter === undefined || !isHeld(letter)) continue;
      letter.state = 'handled';
      letter.handledIn = held.epoch;
    }
    return 'stored';
  }

  failed(
    held: StoredPipeline,
    { id, event }: DeadLetter,
    failure: Failure,
    retryAt: string | null,
  ): LetterResult {
    const letter = byId(held, id);
    const isTold =
      letter?.failure?.lastFailedAt === failure.lastFailedAt && letter.failure.attempts === failure.attempts;
    if (letter?.state !== 'waiting' || isTold) return 'stored';
    letter.failure = failure;
    held.keys.set(event.key, retryAt === null ? null : Date.parse(retryAt));
    return 'stored';
  }

  prune(fence: LetterFence, isSettled: (position: string) => boolean, limit: number): number {
    const pruned = this.write(fence, (held) => {
      const over = [...held.letters].filter(
        ([, { state, event }]) => (state === 'handled' || state === 'discarded') && isSettled(event.position),
      );
      const deleted = over.slice(0, limit);
      for (const [identity] of deleted) held.letters.delete(identity);
      return deleted.length;
    });
    return pruned === 'fenced' ? 0 : pruned;
  }

  retry(pipeline: string, filter: LetterFilter): string[] {
    const held = this.pipelines.get(pipeline);
    if (held === undefined) return [];
    const fitting = this.fitting(pipeline, filter).filter(isHeld).sort(byPlace);
    for (const letter of fitting) {
      if (letter.state === 'skipped') {
        letter.state = 'waiting';
        letter.place = held.nextPlace;
        held.nextPlace += 1;
      }
      held.keys.set(letter.event.key, AT_ONCE);
    }
    return [...new Set(fitting.map(({ event }) => event.key))];
  }

  fitting(pipeline: string, { key, type, error, olderThan, state }: LetterFilter): StoredLetter[] {
    const letters = this.pipelines.get(pipeline)?.letters.values() ?? [];
    return [...letters].filter((letter) => {
      const { event, failure, parkedAt } = letter;
      const said =
        failure === null ? [] : [failure.error.name, failure.error.code ?? '', failure.error.message];
      return (
        (key === undefined || event.key === key) &&
        (type === undefined || event.type === type) &&
        (error === undefined || said.some((text) => text.includes(error))) &&
        (olderThan === undefined || parkedAt <= this.#now() - olderThan) &&
        (state === undefined || letter.state === state)
      );
    });
  }

  write<T>({ pipeline, epoch }: LetterFence, work: (held: StoredPipeline) => T): T | 'fenced' {
    const held = this.pipelines.get(pipeline);
    if (held === undefined) throw new Error(`nobody has claimed the letters of ${pipeline}`);
    return held.epoch > epoch ? 'fenced' : work(held);
  }

  isDue(at: number | null): boolean {
    return at !== null && at <= this.#now();
  }
}

function emptyPipeline(): StoredPipeline {
  return {
    ...{ epoch: 0, running: false, watermark: null, suspect: null, firstPlace: 1, nextPlace: 1 },
    crashes: { unclean: false, inARow: 0, suspect: null },
    letters: new Map(),
    keys: new Map(),
  };
}

function unseen(held: StoredPipeline, letters: readonly NewLetter[]): NewLetter[] {
  for (const { event } of letters) {
    const known = held.letters.get(identityOf(event));
    if (known?.state === 'handled' && known.handledIn < held.epoch) held.letters.delete(identityOf(event));
  }
  const fresh = new Map(letters.toReversed().map((letter) => [identityOf(letter.event), letter]));
  return letters.filter(
    (letter) => fresh.get(identityOf(letter.event)) === letter && !held.letters.has(identityOf(letter.event)),
  );
}

function identityOf({ key, id, transaction }: OutboxEvent): string {
  return JSON.stringify([key, id, transaction.id, transaction.ordinal]);
}

export function waitingOf(held: StoredPipeline, key: string): StoredLetter[] {
  return [...held.letters.values()]
    .filter(({ state, event }) => state === 'waiting' && event.key === key)
    .sort(byPlace);
}

function byPlace(a: StoredLetter, b: StoredLetter): number {
  return a.place - b.place;
}

export function byId(held: StoredPipeline | undefined, id: string): StoredLetter | undefined {
  return [...(held?.letters.values() ?? [])].find((letter) => String(letter.id) === id);
}

export function isHeld({ state }: StoredLetter): boolean {
  return state === 'waiting' || state === 'skipped';
}

function heldIn(held: StoredPipeline): number {
  return [...held.letters.values()].filter(isHeld).length;
}

export function toLetter(letter: StoredLetter): DeadLetter {
  const { id, place, event, reason, state, failure, parkedAt } = letter;
  return { id: String(id), place, event, reason, state, failure, parkedAt: new Date(parkedAt).toISOString() };
}
