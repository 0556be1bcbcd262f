import { StrandlineError } from '@strandline/core';
import type { Purpose } from '../random.js';
import type { Member } from './member.js';
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
  #count = 0;

  constructor(world: World, member: Member, options: FaultyCallsOptions) {
    this.#world = world;
    this.#member = member;
    this.#options = options;
  }

  /** @param work what is done there, at once, when the call arrives */
  call<T>(work: () => Promise<T>, answered: (answer: T) => void = () => undefined): Promise<T> {
    this.#count += 1;
    const { clock, draws } = this.#world;
    const { purpose } = this.#options;
    const member = this.#member;
    if (member.isDead) return new Promise(() => undefined);
    const fate = this.#fate();
    const time = draws.between(0.1, 6, `${purpose} time`, member.life, this.#count);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        clock.answer(member, TIMEOUT, () => {
          reject(this.#unavailable());
        });
      };
      const arrive = (delay: number, then: (answer: T) => void): void => {
        clock.after(delay, () => {
          // What a process has sent when it dies may arrive or not.
          if (member.isDead && draws.unit('lost request', member.life, this.#count) < 0.5) return;
          void work().then(then, (error: unknown) => {
            clock.answer(member, 0, () => {
              reject(error instanceof Error ? error : new Error(String(error)));
            });
          });
        });
      };
      if (fate === 'lost') {
        giveUp();
      } else if (fate === 'unanswered') {
        arrive(time, () => undefined);
        giveUp();
      } else if (fate === 'late') {
        giveUp();
        arrive(TIMEOUT + (time / 6) * LATEST, () => undefined);
      } else {
        arrive(time / 2, (answer) => {
          clock.answer(member, time / 2, () => {
            answered(answer);
            resolve(answer);
          });
        });
      }
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
