/** A simulated process, as far as its time is concerned. */
export interface Machine {
  readonly name: string;
  /** It is gone, and all that it waited for with it. */
  readonly isDead: boolean;
  /** It stands still (SIGSTOP): what is due waits until it goes on. */
  readonly isPaused: boolean;
  /** What was due meanwhile. */
  readonly overdue: Timed[];
  /** Milliseconds that its wall clock is off. */
  readonly clockSkew: number;
}

/** Something that happens at a time. Looks enough like a Node timer. */
export class Timed {
  isCancelled = false;

  constructor(
    public at: number,
    public order: number,
    /** Whose code it wakes; null for the world's own. */
    readonly machine: Machine | null,
    /** An answer that came over the network: a process that goes on sees its timers first, as libuv's loop does. */
    readonly isAnswer: boolean,
    readonly fire: () => void,
    /** Milliseconds, of an interval. */
    readonly every: number | null,
  ) {}

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** When the wall clock stands at the start of a schedule: 2026-01-01. */
const WALL = 1_767_225_600_000;

const real = { setImmediate, setTimeout, clearTimeout, setInterval, clearInterval };

/**
 * The time of a schedule: it goes on only from one event to the next, and all that is awaited is done in between, as
 * between two callbacks of Node's event loop.
 */
export class Clock {
  #now = 0;
  #order = 0;
  readonly #heap: Timed[] = [];
  #machine: Machine | null = null;

  /** Milliseconds since the start of the schedule. */
  get now(): number {
    return this.#now;
  }

  /** The process whose code runs now. */
  get machine(): Machine | null {
    return this.#machine;
  }

  get wall(): number {
    return WALL + this.#now + (this.#machine?.clockSkew ?? 0);
  }

  /** Something that the world does. */
  after(delay: number, fire: () => void): void {
    this.#add(delay, null, false, fire, null);
  }

  /** An answer that reaches a process. */
  answer(machine: Machine, delay: number, fire: () => void): void {
    this.#add(delay, machine, true, fire, null);
  }

  /** A timer of the process whose code runs now. */
  timer(delay: number, fire: () => void, every: number | null = null): Timed {
    return this.#add(delay, this.#machine, false, fire, every);
  }

  /** Runs code of a process now. */
  as(machine: Machine, work: () => void): void {
    const before = this.#machine;
    this.#machine = machine;
    work();
    this.#machine = before;
  }

  /** The process goes on: its timers are due, and then what came over the network. */
  resume(machine: Machine): void {
    const overdue = machine.overdue.splice(0);
    for (const timed of overdue.filter(({ isAnswer }) => !isAnswer)) this.#addAgain(timed, 0);
    for (const timed of overdue.filter(({ isAnswer }) => isAnswer)) this.#addAgain(timed, 0);
  }

  /** Plays until something holds, or this much time has passed, or nothing more would happen. */
  play(until: () => boolean, most: number): Promise<void> {
    const end = this.#now + most;
    return new Promise((resolve, reject) => {
      // In a callback of the event loop: only there can what is awaited be brought to its end.
      real.setImmediate(() => {
        try {
          this.#playTo(end, until);
          resolve();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  }

  #playTo(end: number, until: () => boolean): void {
    // What was called before the first event gets as far as it can.
    finishWhatIsAwaited();
    for (let next = this.#heap[0]; next !== undefined && next.at <= end && !until(); next = this.#heap[0]) {
      this.#pop();
      if (!this.#happens(next)) continue;
      this.#now = Math.max(this.#now, next.at);
      this.#machine = next.machine;
      next.fire();
      finishWhatIsAwaited();
      this.#machine = null;
      if (next.every !== null && !next.isCancelled) this.#addAgain(next, next.every);
    }
  }

  #happens(timed: Timed): boolean {
    const { machine, isCancelled } = timed;
    if (isCancelled || machine?.isDead === true) return false;
    if (machine?.isPaused !== true) return true;
    machine.overdue.push(timed);
    return false;
  }

  #add(
    delay: number,
    machine: Machine | null,
    isAnswer: boolean,
    fire: () => void,
    every: number | null,
  ): Timed {
    this.#order += 1;
    const timed = new Timed(this.#now + Math.max(0, delay), this.#order, machine, isAnswer, fire, every);
    this.#push(timed);
    return timed;
  }

  #addAgain(timed: Timed, delay: number): void {
    this.#order += 1;
    timed.at = this.#now + delay;
    timed.order = this.#order;
    this.#push(timed);
  }

  #push(timed: Timed): void {
    const heap = this.#heap;
    let index = heap.push(timed) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, timed)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = timed;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const least = isRight ? right : left;
      if (isBefore(last, least)) break;
      heap[index] = least;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/**
 * Runs all that waits for promises that are settled, as Node does it between two callbacks of its event loop, by the same
 * function; a turn of the loop for each event would take longer than the event. It has no documented name.
 */
const finishWhatIsAwaited = (process as unknown as { readonly _tickCallback: () => void })._tickCallback.bind(
  process,
);

/** What the code of a simulated process takes for its clock and for chance. */
export interface Given {
  readonly clock: Clock;
  readonly chance: () => number;
}

/**
 * Gives all code of this thread a clock and chance of our own. Node's timers, `Date.now`, `performance.now` and
 * `Math.random` are all that the pipeline has of either.
 */
export function takeOverTime(given: () => Given): void {
  const clock = (): Clock => given().clock;
  Object.assign(globalThis, {
    setTimeout: (fire: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) =>
      clock().timer(delay, () => {
        fire(...args);
      }),
    setInterval: (fire: () => void, every: number) => clock().timer(every, fire, every),
    setImmediate: (fire: () => void) => clock().timer(0, fire),
    clearTimeout: cancel,
    clearInterval: cancel,
  });
  Date.now = () => clock().wall;
  performance.now = () => clock().now;
  Math.random = () => given().chance();
}

function cancel(timed: unknown): void {
  if (timed instanceof Timed) timed.isCancelled = true;
  else real.clearTimeout(timed as NodeJS.Timeout | undefined);
}
