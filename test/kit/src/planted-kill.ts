import { AsyncLocalStorage } from 'node:async_hooks';
import type { DeadLetterStore } from '@strandline/core';

/**
 * Before the statement leaves; when it is on its way; before its answer is looked at. `held` and `unheard` are the first
 * and the last of these, but the process does for a while what it can do without an answer, and ends then.
 */
export const killInstants = ['before', 'held', 'sent', 'answered', 'unheard'] as const;
export type KillInstant = (typeof killInstants)[number];

/** Where a process kills itself: at one of the statements that it sends to its dead-letter table. */
export interface KillPoint {
  /** Counted from 1, from the planting on. */
  readonly statement: number;
  readonly instant: KillInstant;
}

type Query = (this: object, ...args: unknown[]) => unknown;

/** Looks for released keys come as often as time goes by: counted with the others, no statement would keep its number. */
const uncounted = 'released';
/** Milliseconds that a process goes on without its answer: enough for several commits of the offset. */
const lingerMs = 80;

/**
 * Ends its own process with SIGKILL at a statement to the dead-letter table: no handler ends, no transaction is rolled
 * back by us, nothing is saved. What of the statements of a process goes there is told by who asks: they are counted
 * in the course of a call to the store, `begin` and `commit` and those that open a connection included.
 */
export class PlantedKill {
  readonly #ofStore = new AsyncLocalStorage<boolean>();
  #point: KillPoint | null;
  #counted = 0;

  constructor(point: KillPoint | null) {
    this.#point = point;
  }

  /** Statements since the planting. */
  get counted(): number {
    return this.#counted;
  }

  /** Counts from one again; without a point it only counts. */
  plant(point: KillPoint | null): void {
    this.#point = point;
    this.#counted = 0;
  }

  /** Watches what is asked of the store from now on. Loads the drivers, which the store itself loads when it is used. */
  async watching(store: DeadLetterStore): Promise<DeadLetterStore> {
    const [{ default: pg }, { default: mysql }] = await Promise.all([import('pg'), import('mysql2')]);
    this.#watch(pg.Client.prototype, async (args, ask, goOn) => {
      const result = await ask(args);
      return goOn() ? result : new Promise(() => undefined);
    });
    this.#watch(mysql.Connection.prototype, (args, ask, goOn) => {
      const answer = args.at(-1) as Query;
      const answered: Query = function (...results) {
        return goOn() ? answer.apply(this, results) : undefined;
      };
      return ask([...args.slice(0, -1), answered]);
    });
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown =>
          this.#ofStore.run(name !== uncounted, () => (member as Query).apply(target, args));
      },
    });
  }

  /** @param answered asks, and passes the answer on only if it may go on */
  #watch(
    prototype: object,
    answered: (args: unknown[], ask: (args: unknown[]) => unknown, goOn: () => boolean) => unknown,
  ): void {
    const client = prototype as { query: Query };
    const { query } = client;
    // The method is called on connections of which this object knows nothing.
    // oxlint-disable-next-line typescript/no-this-alias
    const kill = this;
    client.query = function (...args) {
      const ask = (asked: unknown[]): unknown => query.apply(this, asked);
      if (kill.#ofStore.getStore() !== true) return ask(args);
      kill.#counted += 1;
      const statement = kill.#counted;
      const isAt = (instant: KillInstant): boolean =>
        statement === kill.#point?.statement && instant === kill.#point.instant;
      if (isAt('before')) strike();
      if (isAt('held')) return strikeLater();
      const answer = answered(args, ask, () => {
        if (isAt('answered')) strike();
        if (isAt('unheard')) void strikeLater();
        return !isAt('unheard');
      });
      if (isAt('sent')) strike();
      return answer;
    };
  }
}

function strike(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** What is never answered. */
function strikeLater(): Promise<never> {
  setTimeout(strike, lingerMs);
  return new Promise(() => undefined);
}
