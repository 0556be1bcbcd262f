import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PermanentError } from '../src/errors.js';
import { Executor } from '../src/executor.js';
import type { RetryPolicy } from '../src/retry-policy.js';
import type { Strand } from '../src/strand.js';
import { event, executorOptions, position } from './fixtures.js';
import { naiveWatermark } from './naive-watermark.js';

/** One thing that can happen to an executor. `nth` names one of the running strands, counted round. */
type Step =
  | { readonly do: 'admit'; readonly key: string }
  | { readonly do: 'pass' }
  | { readonly do: 'take' }
  | { readonly do: 'succeed'; readonly nth: number }
  | { readonly do: 'fail'; readonly nth: number; readonly permanent: boolean }
  | { readonly do: 'wake'; readonly after: number }
  | { readonly do: 'pause' | 'resume' }
  | { readonly do: OnKey; readonly key: string };

/** What an operator does to a key. */
type OnKey = 'hold' | 'release' | 'tryNow' | 'tryAfresh' | 'skip' | 'takeBack';

const nth = fc.nat(20);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('admit'), key: fc.constantFrom('a', 'a', 'a', 'b', 'c', 'd') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass') }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('take') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('succeed'), nth }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail'),
      nth,
      permanent: fc.constantFrom(false, false, false, false, false, true),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wake'), after: fc.nat(150) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'resume') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('hold', 'release', 'tryNow', 'tryAfresh', 'skip', 'takeBack'),
      key: fc.constantFrom('a', 'b', 'c', 'd'),
    }),
  },
);

const RETRY: RetryPolicy = {
  attempts: 3,
  maxElapsed: 500,
  initialDelay: 50,
  maxDelay: 150,
  factor: 2,
  jitter: 'none',
};

/** What the model knows of a key with work: plain lists, no state machine. */
interface KeyModel {
  readonly key: string;
  readonly waiting: number[];
  turn: number[];
  failures: number;
  firstFailedAt: number;
  dueAt: number;
  halted: boolean;
  /** It would be ready, or in backoff, if nobody held its key. */
  stands: boolean;
}

/** The executor again, as naively as possible: everything is an array that is searched. */
class Model {
  readonly settled: boolean[] = [];
  keys: KeyModel[] = [];
  ready: KeyModel[] = [];
  running: KeyModel[] = [];
  backoff: KeyModel[] = [];
  readonly held = new Set<string>();
  isPaused = false;
  handled = 0;
  now = 0;

  constructor(
    readonly concurrency: number,
    readonly batch: number,
  ) {}

  admit(key: string): void {
    const n = this.settled.push(false) - 1;
    const known = this.keys.find((model) => model.key === key);
    if (known !== undefined) {
      known.waiting.push(n);
      return;
    }
    const times = { firstFailedAt: NaN, dueAt: NaN };
    const fresh = { key, waiting: [n], turn: [], failures: 0, ...times, halted: false, stands: false };
    this.keys.push(fresh);
    this.#wait(fresh);
  }

  #wait(model: KeyModel): void {
    if (this.held.has(model.key)) model.stands = true;
    else this.ready.push(model);
  }

  #leave(model: KeyModel): void {
    this.ready = this.ready.filter((other) => other !== model);
    this.backoff = this.backoff.filter((other) => other !== model);
    model.stands = false;
    model.halted = false;
  }

  onKey(what: OnKey, key: string): void {
    const model = this.keys.find((other) => other.key === key);
    if (what === 'hold') this.held.add(key);
    if (what === 'release') this.held.delete(key);
    if (model === undefined || this.running.includes(model)) return;
    switch (what) {
      case 'hold':
        if (model.halted) return;
        this.#leave(model);
        model.stands = true;
        return;
      case 'release':
        if (!model.stands) return;
        this.#leave(model);
        this.#wait(model);
        return;
      case 'tryNow':
        if (!this.backoff.includes(model)) return;
        this.#leave(model);
        this.#wait(model);
        return;
      case 'tryAfresh':
        if (!model.halted) return;
        this.#leave(model);
        model.failures = 0;
        this.#wait(model);
        return;
      case 'skip':
        this.#leave(model);
        model.turn = model.waiting.slice(0, 1);
        this.#settle(model);
        return;
      case 'takeBack':
        this.#leave(model);
        model.turn = model.waiting.slice(0, 1);
        this.#wait(model);
    }
  }

  take(): KeyModel | null {
    if (this.isPaused || this.running.length >= this.concurrency) return null;
    const model = this.ready.shift();
    if (model === undefined) return null;
    if (model.failures === 0) model.turn = model.waiting.slice(0, this.batch);
    this.running.push(model);
    return model;
  }

  succeed(model: KeyModel): void {
    this.running = this.running.filter((other) => other !== model);
    this.#settle(model);
  }

  #settle(model: KeyModel): void {
    for (const n of model.turn) this.settled[n] = true;
    this.handled += model.turn.length;
    model.waiting.splice(0, model.turn.length);
    model.failures = 0;
    if (model.waiting.length > 0) this.#wait(model);
    else this.keys = this.keys.filter((other) => other !== model);
  }

  fail(model: KeyModel, permanent: boolean): string {
    this.running = this.running.filter((other) => other !== model);
    if (model.failures === 0) model.firstFailedAt = this.now;
    model.failures += 1;
    const gaveUp = model.failures === RETRY.attempts || this.now - model.firstFailedAt >= RETRY.maxElapsed;
    if (permanent || gaveUp) {
      model.halted = true;
      return 'halt';
    }
    if (this.held.has(model.key)) {
      model.stands = true;
      return 'held';
    }
    model.dueAt = this.now + ([50, 100, 150][model.failures - 1] ?? NaN);
    this.backoff.push(model);
    return `retry at ${String(model.dueAt)}`;
  }

  wake(): void {
    const due = this.backoff.filter(({ dueAt }) => dueAt <= this.now).sort((a, b) => a.dueAt - b.dueAt);
    this.backoff = this.backoff.filter(({ dueAt }) => dueAt > this.now);
    this.ready.push(...due);
  }
}

/** Plays one step on both and compares what they decide. */
function play(step: Step, executor: Executor, model: Model, running: Map<KeyModel, Strand>): void {
  const chosen = 'nth' in step ? model.running[step.nth % model.running.length] : undefined;
  const strand = chosen === undefined ? undefined : running.get(chosen);
  switch (step.do) {
    case 'admit':
      executor.admit(event(step.key, model.settled.length, 3));
      model.admit(step.key);
      return;
    case 'pass':
      executor.pass(position(model.settled.length));
      model.settled.push(true);
      return;
    case 'take': {
      const [taken, expected] = [executor.take(), model.take()];
      expect(taken?.key ?? null).toBe(expected?.key ?? null);
      if (taken === null || expected === null) return;
      expect(taken.inFlightEvents().map(({ id }) => Number(id))).toEqual(expected.turn);
      expect(taken.attempt).toBe(expected.failures + 1);
      running.set(expected, taken);
      return;
    }
    case 'succeed':
      if (chosen === undefined || strand === undefined) return;
      executor.succeed(strand);
      model.succeed(chosen);
      return;
    case 'fail': {
      if (chosen === undefined || strand === undefined) return;
      // Each failure has an instant of its own: strands that are due at the same time may wake in any order.
      model.now += 0.001;
      const decision = executor.fail(
        strand,
        step.permanent ? new PermanentError('never') : 'failed',
        model.now,
      );
      if (decision.outcome === 'exhausted') executor.halt(strand);
      const text =
        decision.outcome === 'retry'
          ? `retry at ${String(decision.dueAt)}`
          : decision.outcome === 'held'
            ? 'held'
            : 'halt';
      expect(text).toBe(model.fail(chosen, step.permanent));
      return;
    }
    case 'wake': {
      model.now += step.after;
      const next = executor.wake(model.now);
      model.wake();
      expect(next).toBe(
        model.backoff.length === 0 ? null : Math.min(...model.backoff.map(({ dueAt }) => dueAt)),
      );
      return;
    }
    case 'pause':
    case 'resume':
      executor.pause(step.do === 'pause');
      model.isPaused = step.do === 'pause';
      return;
    default:
      operate(step.do, step.key, executor);
      model.onKey(step.do, step.key);
  }
}

function operate(what: OnKey, key: string, executor: Executor): void {
  const strand = executor.strandOf(key);
  switch (what) {
    case 'hold':
      executor.hold([key]);
      return;
    case 'release':
      executor.release([key]);
      return;
    case 'tryNow':
      if (strand !== undefined) executor.tryNow(strand);
      return;
    case 'tryAfresh':
      if (strand !== undefined) executor.tryAfresh(strand);
      return;
    case 'skip':
      if (strand !== undefined && executor.giveUp(strand)) executor.skip(strand);
      return;
    case 'takeBack':
      if (strand !== undefined && executor.giveUp(strand)) executor.takeBack(strand);
  }
}

function compareState(executor: Executor, model: Model): void {
  const unsettled = model.settled.filter((settled) => !settled).length;
  expect(executor.counts()).toEqual({
    unsettled,
    bytes: unsettled * 3,
    strands: model.keys.length,
    running: model.running.length,
    backoff: model.backoff.length,
    stuck: 0,
    exhausted: 0,
    parked: 0,
    halted: model.keys.filter(({ halted }) => halted).length,
    held: model.keys.filter(({ stands }) => stands).length,
    settled: model.handled,
  });
  expect(executor.isPaused).toBe(model.isPaused);
  for (const { key, stands } of model.keys)
    expect(executor.strandOf(key)?.state === 'held', `key ${key} stands`).toBe(stands);
  expect(executor.ready).toBe(model.ready.filter(({ failures }) => failures === 0).length);
  const { watermark, completed } = naiveWatermark(model.settled);
  expect(executor.watermark).toBe(watermark);
  expect(executor.completed()).toEqual(completed);
}

describe('executor against a naive model', () => {
  it('decides the same after every sequence of steps: order, turns, retries, halts, holds, watermark and counts', () => {
    const steps = fc.array(step, { maxLength: 150, size: 'max' });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        steps,
        (concurrency, batch, steps) => {
          const executor = new Executor(executorOptions({ concurrency, batch, retry: RETRY }));
          const model = new Model(concurrency, batch);
          const running = new Map<KeyModel, Strand>();
          for (const step of steps) {
            play(step, executor, model, running);
            compareState(executor, model);
          }
        },
      ),
      { numRuns: 300 },
    );
  }, 30_000);
});
