import { setTimeout as sleep } from 'node:timers/promises';
import type { Victim } from './faults/fault.js';
import type { Strike } from './plan.js';
import type { Timeline } from './timeline.js';
import type { World } from './world.js';

/** Lets the faults of a plan strike when they are due: side by side, but one after the other on the same victim. */
export class Striker {
  readonly #world: World;
  readonly #timeline: Timeline;
  readonly #lasting = new Map<Victim, Promise<void>>();

  constructor(world: World, timeline: Timeline) {
    this.#world = world;
    this.#timeline = timeline;
  }

  /** Resolves when all of them are undone. */
  async strikeAll(strikes: readonly Strike[], signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    for (const strike of strikes) {
      const wait = Math.max(begun + strike.due - performance.now(), 0);
      await sleep(wait, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      const { victim } = strike.fault;
      const former = this.#lasting.get(victim) ?? Promise.resolve();
      const lasting = former.then(() => this.#strike(strike));
      lasting.catch(() => undefined); // told below
      this.#lasting.set(victim, lasting);
    }
    await Promise.all(this.#lasting.values());
  }

  async #strike({ fault, random }: Strike): Promise<void> {
    const struck = this.#timeline.begin(fault.name, fault.excuses);
    await fault.strike(this.#world, random, (what) => {
      this.#timeline.note(`${fault.name}: ${what}`);
    });
    struck.to = Date.now();
    this.#timeline.note(`${fault.name}: over`);
  }
}
