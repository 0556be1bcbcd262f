import type { Logger } from '@strandline/core';

/** Milliseconds between two looks at the clocks. */
const HEARTBEAT = 250;
/** Turns between two looks at the monotonic clock: a clock costs 60 ns, a hundredth of all that an event costs. */
const TURNS_PER_LOOK = 16;
/**
 * Milliseconds from one look to the next that tell that the process stood still: stopped by a signal, frozen with its
 * container, or busy for so long. No server gives a log away that soon after it has heard nothing of its owner.
 */
const STANDSTILL = 1_000;

export interface DoubtOptions {
  readonly log: Logger;
  /** Resolves once the log's server has said that it is this process's; null where nobody can be asked. */
  readonly prove: (() => Promise<void>) | null;
  /** There is none any more. */
  readonly over: () => void;
}

/**
 * Whether the log may be another owner's by now: no handler starts while it may. The source says so when it has lost
 * what holds the log; and a process that stood still can't know before it has asked, for its timers and what its
 * handlers waited for wake up before it hears what became of its connections.
 */
export class Doubt {
  readonly #options: DoubtOptions;
  #isTold = false;
  #isProving = false;
  /** The last looks, by the monotonic clock, which a suspended machine may not count on, and by that of the wall. */
  #seen = performance.now();
  #seenWall = Date.now();
  #turns = 0;
  #standstills = 0;
  #waiting: (() => void)[] = [];
  readonly #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: DoubtOptions) {
    this.#options = options;
    if (options.prove === null) return;
    this.#heartbeat = setInterval(() => {
      this.#look();
    }, HEARTBEAT).unref();
  }

  get inDoubt(): boolean {
    this.#look();
    return this.#isTold || this.#isProving;
  }

  /**
   * The same, before a turn, by whoever knows what `Date.now()` says. That clock tells of every standstill, unless it
   * is set back in that very moment: the other one is looked at now and then.
   */
  inDoubtAt(wall: number): boolean {
    if (this.#options.prove !== null) {
      this.#turns += 1;
      if (this.#turns % TURNS_PER_LOOK === 0 || wall - this.#seenWall > STANDSTILL) this.#look();
      else this.#seenWall = wall;
    }
    return this.#isTold || this.#isProving;
  }

  /** What the source says. */
  set(inDoubt: boolean): void {
    this.#isTold = inDoubt;
    this.#end();
  }

  /** Resolves once there is none, or the signal aborts. */
  async over(signal: AbortSignal): Promise<void> {
    while (this.inDoubt && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          signal.removeEventListener('abort', go);
          resolve();
        };
        this.#waiting.push(go);
        signal.addEventListener('abort', go);
      });
    }
  }

  close(): void {
    clearInterval(this.#heartbeat);
  }

  #look(): void {
    const { prove, log } = this.#options;
    if (prove === null) return;
    const [now, wall] = [performance.now(), Date.now()];
    const stoodStill = Math.max(now - this.#seen, wall - this.#seenWall);
    [this.#seen, this.#seenWall] = [now, wall];
    if (stoodStill <= STANDSTILL) return;
    this.#standstills += 1;
    if (this.#isProving) return;
    this.#isProving = true;
    log.warn(
      { stoodStill: Math.round(stoodStill) },
      'the process stood still, or its clock was set: no handler starts before the log is known to be its own yet',
    );
    void this.#prove(prove);
  }

  /** An answer counts if there was no standstill between it and its question. */
  async #prove(prove: () => Promise<void>): Promise<void> {
    let before: number;
    do {
      before = this.#standstills;
      await prove();
      this.#look();
    } while (this.#standstills !== before);
    this.#isProving = false;
    this.#end();
  }

  #end(): void {
    if (this.inDoubt) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
    this.#options.over();
  }
}
