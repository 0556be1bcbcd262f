import { StrandlineError } from '@strandline/core';
import type { Purpose } from '../draws.js';
import type { Member } from './member.js';
import { UnfinishedWork } from './unfinished-work.js';
import type { World } from './world.js';

/** What becomes of one call over the network. */
export type Fate =
  | 'answered'
  /** Nothing is done, and the caller is told that it does not know. */
  | 'lost'
  /** It is done, and the caller is told that it does not know. */
  | 'unanswered'
  /** The caller has given up when it is done. */
  | 'late';

export interface FaultyCallsOptions {
  readonly purpose: Extract<Purpose, 'offsets' | 'letters'>;
  readonly fates: readonly Exclude<Fate, 'answered'>[];
  readonly code: string;
  readonly isAway: () => boolean;
  /** Of a store whose calls wait for each other's locks: what all processes share. */
  readonly unfinished?: UnfinishedWork;
}

/** What is special about a call. */
export interface CallOptions<T> {
  /** Told when the caller hears the answer. */
  readonly answered?: (answer: T) => void;
  /** It takes no lock: what others have begun may be done behind it. */
  readonly onlyReads?: boolean;
}

/** Share of the calls that go wrong while there are faults. */
const FAULTS = 0.12;
/** Milliseconds after which a caller gives up. */
const TIMEOUT = 25;
/** Milliseconds: what is done late is done that much after it was given up, at the most. */
const LATEST = 80;

/** Calls of one process to a store elsewhere: slow, lost, unanswered, or done after they were given up. */
export class FaultyCalls {
  readonly #world: World;
  readonly #member: Member;
  readonly #options: FaultyCallsOptions;
  readonly #unfinished: UnfinishedWork;
  #count = 0;

  constructor(world: World, member: Member, options: FaultyCallsOptions) {
    this.#world = world;
    this.#member = member;
    this.#options = options;
    this.#unfinished = options.unfinished ?? new UnfinishedWork();
  }

  /** @param work what is done there, at once, when the call arrives */
  call<T>(
    work: () => Promise<T>,
    { answered = () => undefined, onlyReads = false }: CallOptions<T> = {},
  ): Promise<T> {
    this.#count += 1;
    const { clock } = this.#world;
    const member = this.#member;
    if (member.isDead) return new Promise(() => undefined);
    const nth = this.#count;
    const fate = this.#fate();
    const time = this.#world.draws.between(0.1, 6, `${this.#options.purpose} time`, member.life, nth);
    return new Promise((resolve, reject) => {
      const failed = (error: unknown): void => {
        clock.answer(member, 0, () => {
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      };
      if (fate === 'answered') {
        this.#arrive(time / 2, nth, onlyReads, () => {
          work().then((answer) => {
            clock.answer(member, time / 2, () => {
              answered(answer);
              resolve(answer);
            });
          }, failed);
        });
        return;
      }
      clock.answer(member, TIMEOUT, () => {
        reject(this.#unavailable());
      });
      const unheard = (): void => void work().catch(failed);
      if (fate === 'unanswered') this.#arrive(time, nth, onlyReads, unheard);
      if (fate === 'late') clock.after(TIMEOUT + (time / 6) * LATEST, this.#unfinished.add(unheard));
    });
  }

  #arrive(delay: number, nth: number, onlyReads: boolean, work: () => void): void {
    const { clock, draws } = this.#world;
    const member = this.#member;
    clock.after(delay, () => {
      // What a process has sent when it dies may arrive or not.
      if (member.isDead && draws.unit('lost request', member.life, nth) < 0.5) return;
      if (!onlyReads) this.#options.unfinished?.finish();
      work();
    });
  }

  #fate(): Fate {
    const { draws, isQuiet } = this.#world;
    const { purpose, fates, isAway } = this.#options;
    if (isAway()) return 'lost';
    if (isQuiet) return 'answered';
    const drawn = draws.unit(purpose, this.#member.life, this.#count) / FAULTS;
    return drawn >= 1 ? 'answered' : (fates[Math.floor(drawn * fates.length)] ?? 'answered');
  }

  #unavailable(): StrandlineError {
    return new StrandlineError(this.#options.code, 'The simulated store is away.', 'Wait.', {
      transient: true,
    });
  }
}
