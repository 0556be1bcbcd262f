import type { RetryPolicy, Strand } from '@strandline/core';
import { Log, LOG_START } from './log.js';
import { Process, type ProcessOptions } from './process.js';
import { BrokenPromise, Promises, type Standing } from './promises.js';
import { Random } from './random.js';

/** What a schedule is made of. All of it is drawn from the seed. */
export interface Scenario extends ProcessOptions {
  readonly keys: readonly string[];
  /** This key's handler hangs until the process crashes or the schedule ends. */
  readonly slowKey: string | null;
  /** Every other row or so has this key. */
  readonly hotKey: string | null;
  /** How often an attempt fails, and how often it does for good. */
  readonly failures: number;
  readonly permanent: number;
  /** How often each kind of step comes. */
  readonly weights: Readonly<Record<Step, number>>;
  readonly steps: number;
}

type Step = 'commit' | 'read' | 'start' | 'finish' | 'tick' | 'save' | 'acknowledge' | 'reject' | 'crash';

export function drawScenario(random: Random): Scenario {
  const keys = Array.from({ length: random.between(1, 8) }, (_, i) => `k${String(i)}`);
  const retry: RetryPolicy = {
    attempts: random.pick([1, 2, 5, Infinity]),
    maxElapsed: random.pick([200, Infinity]),
    initialDelay: random.pick([0, 10]),
    maxDelay: 100,
    factor: 2,
    jitter: random.pick(['full', 'none']),
  };
  return {
    keys,
    retry,
    concurrency: random.between(1, 6),
    batch: random.pick([1, 1, 2, 4]),
    window: random.pick([3, 12, 60, Infinity]),
    slowKey: random.chance(0.5) ? random.pick(keys) : null,
    hotKey: random.chance(0.3) ? random.pick(keys) : null,
    failures: random.pick([0, 0.1, 0.5]),
    permanent: random.pick([0, 0, 0.1]),
    weights: {
      commit: random.pick([2, 4]),
      read: random.pick([4, 8]),
      start: 5,
      finish: random.pick([2, 6]),
      tick: 1,
      save: random.pick([0.3, 2]),
      acknowledge: random.pick([0.3, 2]),
      reject: 0.1,
      crash: random.pick([0.05, 0.2, 0.6]),
    },
    steps: random.between(50, 500),
  };
}

/** Plays one seed: random steps with faults, then a quiet end in which everything must come right. */
export class Simulation {
  readonly scenario: Scenario;
  readonly log: Log;
  readonly #random: Random;
  readonly #promises: Promises;
  readonly #onStep: (step: string) => void;
  #saved: Standing = { watermark: LOG_START, completed: [] };
  #process: Process;
  #now = 0;

  constructor(seed: number, onStep: (step: string) => void = () => undefined) {
    this.#random = new Random(seed);
    this.#onStep = onStep;
    this.scenario = drawScenario(this.#random);
    this.log = new Log(this.#random.chance(0.5));
    this.#promises = new Promises(this.log, this.scenario.concurrency);
    this.#process = this.#boot();
  }

  run(): void {
    for (let i = 0; i < this.scenario.steps; i += 1) {
      this.#play(this.#random.weighted(this.scenario.weights));
    }
    this.#finishAllButStuck();
    this.#save();
    this.#crash();
    this.#finishAll();
  }

  #boot(): Process {
    return new Process(this.log, this.#promises, this.#saved, this.scenario, this.#random);
  }

  #play(step: Step): void {
    this.#onStep(step);
    switch (step) {
      case 'commit': {
        this.#commit();
        return;
      }
      case 'read':
        return void this.#process.read();
      case 'start':
        return void this.#process.start();
      case 'finish': {
        this.#finishOne();
        return;
      }
      case 'tick':
        this.#now += this.#random.between(0, 60);
        return void this.#process.executor.wake(this.#now);
      case 'save':
        if (this.#process.pending === null) this.#process.beginSave();
        return;
      case 'acknowledge': {
        this.#acknowledge();
        return;
      }
      case 'reject':
        this.#process.pending = null;
        return;
      case 'crash': {
        this.#crash();
        return;
      }
    }
  }

  #commit(): void {
    const { keys, hotKey } = this.scenario;
    const rows = this.#random.pick([0, 1, 1, 1, 2, 3]);
    const drawn = Array.from({ length: rows }, () => {
      return hotKey !== null && this.#random.chance(0.5) ? hotKey : this.#random.pick(keys);
    });
    this.log.commit(drawn, this.#random);
  }

  #finishOne(): void {
    const movable = this.#process.running.filter(({ key }) => key !== this.scenario.slowKey);
    if (movable.length === 0) return;
    const strand = this.#random.pick(movable);
    if (!this.#random.chance(this.scenario.failures)) {
      this.#process.succeed(strand);
      return;
    }
    this.#process.fail(strand, this.#random.chance(this.scenario.permanent), this.#now);
  }

  /** The store has the commit that was under way, and says so; only then the log may be released. */
  #acknowledge(): void {
    this.#store();
    this.#promises.released(this.#saved.watermark);
    this.log.released = this.#saved.watermark;
  }

  #store(): void {
    const { pending } = this.#process;
    if (pending === null) return;
    this.#promises.saved(pending);
    this.#saved = { watermark: pending.watermark, completed: pending.completed };
    this.#process.pending = null;
  }

  /** The commit under way may have reached the store; its answer never comes. */
  #crash(): void {
    if (this.#random.chance(0.5)) this.#store();
    this.#promises.crashed();
    this.#process = this.#boot();
  }

  #save(): void {
    this.#onStep('save and acknowledge');
    this.#process.pending = null;
    this.#process.beginSave();
    this.#acknowledge();
  }

  /** A slow or halted key holds up nothing but itself, as long as the window is open. */
  #finishAllButStuck(): void {
    this.#onStep('finish all but the slow key');
    const { slowKey, concurrency } = this.scenario;
    this.#drain(({ key }) => key !== slowKey);
    const { executor } = this.#process;
    if (slowKey !== null && concurrency === 1) return;
    const stuck = new Set(slowKey === null ? [] : [slowKey]);
    for (const { key, state } of executor.strands()) if (state === 'halted') stuck.add(key);
    this.#promises.nothingWaitsBut(stuck, this.#process.isPaused ? this.#process.rowsRead : this.log.rows);
  }

  #finishAll(): void {
    this.#onStep('finish all');
    this.#drain(() => true);
    this.#save();
    this.#promises.finished(this.#saved);
  }

  /** Reads, runs and wakes without faults until nothing moves. */
  #drain(mayFinish: (strand: Strand) => boolean): void {
    for (let moved = true, rounds = 0; moved; rounds += 1) {
      if (rounds > 10_000) throw new BrokenPromise('promise 3: the work never comes to an end');
      moved = false;
      while (this.#process.read()) moved = true;
      while (this.#process.start()) moved = true;
      for (const strand of this.#process.running.filter(mayFinish)) {
        this.#process.succeed(strand);
        moved = true;
      }
      const { executor } = this.#process;
      if (executor.counts().backoff > 0) moved = true;
      this.#now += 100;
      executor.wake(this.#now);
    }
  }
}

/** Plays a seed; what it throws names the seed, the scenario and the last steps. */
export function simulate(seed: number): void {
  try {
    new Simulation(seed).run();
  } catch (error) {
    throw new BrokenPromise(`${String(error)}\n${report(seed)}`, { cause: error });
  }
}

/** A seed plays the same steps each time, so they are only written down when somebody wants to read them. */
function report(seed: number): string {
  const steps: string[] = [];
  const simulation = new Simulation(seed, (step) => steps.push(step));
  try {
    simulation.run();
  } catch {
    // The same error again: the caller has it.
  }
  return [
    `seed ${String(seed)}: play it again with SIMULATION_SEED=${String(seed)} SIMULATION_RUNS=1`,
    `scenario: ${JSON.stringify(simulation.scenario)}`,
    `rows: ${simulation.log.rows.map(({ n, event }) => `${String(n)}=${event.key}@${event.position}`).join(' ')}`,
    `step ${String(steps.length)}, the last ones: ${steps.slice(-60).join(' ')}`,
  ].join('\n');
}
