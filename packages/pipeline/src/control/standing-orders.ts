import { NO_CONTROLS, type Controls, type ControlStore, type Executor, type Logger } from '@strandline/core';
import { isRetried } from '../commit-loop.js';
import { errorFields } from '../error-fields.js';
import { changeControls, type Edit } from './change-controls.js';
import type { Happenings } from './happenings.js';

/** Milliseconds between looks for what was ordered elsewhere. */
const POLL = 1_000;

export interface StandingOrdersOptions {
  readonly pipeline: string;
  readonly store: ControlStore;
  /** As they were read when the pipeline was taken: they hold before the first event is handed out. */
  readonly controls: Controls;
  readonly executor: Executor;
  readonly happenings: Happenings;
  readonly log: Logger;
  /** Keys may go on, or stand. */
  readonly changed: () => void;
  /** The store is beyond repair: nobody knows what is held. */
  readonly failed: (error: unknown) => void;
}

/**
 * What operators have ordered, as the owner obeys it: the executor holds what the offset store says. What is ordered in
 * this process acts at once, what is ordered elsewhere within about a second. While the store is away what was known
 * last goes on to hold, and a store that has lost it gets it back.
 */
export class StandingOrders {
  readonly #options: StandingOrdersOptions;
  #controls: Controls = NO_CONTROLS;
  /** Keys that stand for a moment, because somebody here is about to do something to them. */
  readonly #atHand = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  /** One thing at a time: the answer of a look that was overtaken by a change would take that back. */
  #last: Promise<unknown> = Promise.resolve();
  #isAway = false;
  #closed = false;

  constructor(options: StandingOrdersOptions) {
    this.#options = options;
    this.#apply(options.controls);
  }

  get controls(): Controls {
    return this.#controls;
  }

  start(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.#inTurn(() => this.#look()).then(() => {
        this.start();
      });
    }, POLL).unref();
  }

  /** Changes them in the store, and obeys at once. Throws what `changeControls` throws. */
  change(edit: Edit): Promise<Controls> {
    const { store, pipeline } = this.#options;
    return this.#inTurn(async () => {
      const changed = await changeControls(store, pipeline, edit);
      this.#obey(changed);
      return changed;
    });
  }

  /** Whether an operator holds the key, and not only somebody for a moment. */
  isOrdered(key: string): boolean {
    return this.#controls.held.some((one) => one.key === key);
  }

  /** The key takes no further turn for a moment: until what this returns is called. */
  stand(key: string): () => void {
    const { executor, changed } = this.#options;
    this.#atHand.set(key, (this.#atHand.get(key) ?? 0) + 1);
    executor.hold([key]);
    return () => {
      const left = (this.#atHand.get(key) ?? 1) - 1;
      if (left > 0) this.#atHand.set(key, left);
      else this.#atHand.delete(key);
      if (left > 0 || this.isOrdered(key)) return;
      executor.release([key]);
      changed();
    };
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { store, pipeline, log, failed } = this.#options;
    const known = this.#controls;
    try {
      const found = await store.newer(pipeline, known.revision);
      if (this.#isAway) log.info({}, 'what operators order can be looked at again');
      this.#isAway = false;
      if (found === null || this.#closed) return;
      if (found.revision > known.revision) this.#obey(found);
      else await this.#restore(found);
    } catch (error) {
      if (!isRetried(error)) failed(error);
      else if (!this.#isAway) {
        this.#isAway = true;
        log.warn(
          { err: errorFields(error) },
          'what operators order can not be looked at: what is known of it goes on to hold',
        );
      }
    }
  }

  /**
   * Revisions only grow: a store that knows fewer has lost what it had, and with it what is held for a reason. What was
   * ordered since then is added to it.
   */
  async #restore(found: Controls): Promise<void> {
    const { store, pipeline, log } = this.#options;
    const { paused, held } = this.#controls;
    const known = new Set(held.map(({ key }) => key));
    const since = found.held.filter(({ key }) => !known.has(key));
    const restored = await store.change(pipeline, found, {
      paused: paused ?? found.paused,
      held: [...held, ...since],
    });
    if (restored === null) return;
    this.#follow(restored);
    if (paused !== null || held.length > 0)
      log.warn(
        { held: held.length, paused: paused !== null },
        'the offset store had lost what operators have ordered: it was written anew',
      );
  }

  #obey(controls: Controls): void {
    if (controls.revision !== this.#controls.revision) this.#follow(controls);
  }

  #follow(controls: Controls): void {
    const { happenings, log, changed } = this.#options;
    const before = this.#controls;
    const { held, released } = this.#apply(controls);
    for (const { key, by, note } of held) {
      happenings.add(key, { what: 'held', by, note });
      log.info({ key, by, note }, 'an operator holds this key: its events wait, other keys go on');
    }
    for (const { key } of released) {
      happenings.add(key, { what: 'released' });
      log.info({ key }, 'an operator has released this key: it goes on');
    }
    if (controls.paused !== null && before.paused === null) {
      const { by, note } = controls.paused;
      log.warn({ by, note }, 'an operator has paused the pipeline: no handler starts');
    }
    if (controls.paused === null && before.paused !== null)
      log.info({}, 'the pipeline was resumed by an operator');
    changed();
  }

  #apply(controls: Controls): { readonly held: Controls['held']; readonly released: Controls['held'] } {
    const { executor } = this.#options;
    const [were, are] = [this.#controls.held, controls.held].map(
      (held) => new Set(held.map(({ key }) => key)),
    );
    const held = controls.held.filter(({ key }) => were?.has(key) !== true);
    const released = this.#controls.held.filter(({ key }) => are?.has(key) !== true);
    this.#controls = controls;
    // First, so that what is released takes no turn in a pipeline that is paused by the same change.
    executor.pause(controls.paused !== null);
    executor.hold(held.map(({ key }) => key));
    executor.release(released.flatMap(({ key }) => (this.#atHand.has(key) ? [] : [key])));
    return { held, released };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work, work);
    this.#last = run.catch(() => undefined);
    return run;
  }
}
