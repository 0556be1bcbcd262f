import { describe, expect, it } from 'vitest';
import { Log, LOG_START } from './log.js';
import { Process, type ProcessOptions } from './process.js';
import { Promises, type Standing } from './promises.js';
import { Random } from './random.js';
import { simulate } from './simulation.js';

const FIRST_SEED = Number(process.env['SIMULATION_SEED'] ?? 1);
const RUNS = Number(process.env['SIMULATION_RUNS'] ?? 2_000);

const OPTIONS: ProcessOptions = {
  concurrency: 4,
  batch: 1,
  window: Infinity,
  retry: { attempts: 1, maxElapsed: 0, initialDelay: 0, maxDelay: 0, factor: 1, jitter: 'none' },
};

/** A world with one slow key, first in the log, and many rows of others behind it. */
class SlowKeyWorld {
  readonly #random = new Random(1);
  readonly log = new Log(true);
  readonly promises = new Promises(this.log, OPTIONS.concurrency);
  saved: Standing = { watermark: LOG_START, completed: [] };

  constructor(rowsBehind: number) {
    this.log.commit(['slow'], this.#random);
    for (let i = 0; i < rowsBehind; i += 1) this.log.commit([`k${String(i % 10)}`], this.#random);
  }

  boot(): Process {
    this.promises.crashed();
    return new Process(this.log, this.promises, this.saved, OPTIONS, this.#random);
  }

  /** Reads so many items and finishes whatever is not the slow key. Returns the rows that were started. */
  work(process: Process, items: number): string[] {
    const started: string[] = [];
    for (let i = 0; i < items && process.read(); i += 1) {
      while (process.start()) started.push(process.running.at(-1)?.head.event.id ?? '');
      for (const strand of [...process.running]) if (strand.key !== 'slow') process.succeed(strand);
    }
    return started;
  }

  save(process: Process): void {
    process.beginSave();
    if (process.pending === null) throw new Error('nothing to save');
    this.promises.saved(process.pending);
    this.saved = { watermark: process.pending.watermark, completed: process.pending.completed };
    process.pending = null;
  }
}

describe(`whatever crashes, fails or comes late, at any instant (${String(RUNS)} seeds from ${String(FIRST_SEED)})`, () => {
  it('loses nothing, keeps keys in order, moves offsets behind settled work, repeats only what was not saved', () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) simulate(seed);
  });
});

describe('with one slow key that has held the watermark back for hours', () => {
  it('only the slow event is delivered again after a crash', () => {
    const world = new SlowKeyWorld(10_000);
    const first = world.boot();
    expect(world.work(first, Infinity)).toHaveLength(10_001);
    world.save(first);
    expect(world.saved.watermark).toBe(LOG_START);
    expect(world.saved.completed).toHaveLength(1);

    expect(world.work(world.boot(), Infinity)).toEqual(['0']);
  });

  it('only the slow event and what was settled since the last commit are delivered again', () => {
    const world = new SlowKeyWorld(100);
    const first = world.boot();
    world.work(first, 2 * 91);
    world.save(first);
    world.work(first, 2 * 5);

    const again = world.work(world.boot(), Infinity);
    expect(again).toEqual(['0', ...Array.from({ length: 10 }, (_, i) => String(91 + i))]);
  });

  it('a second crash, before the resumed stream has reached the completed ranges, delivers none of them again', () => {
    const world = new SlowKeyWorld(1_000);
    const first = world.boot();
    world.work(first, Infinity);
    world.save(first);

    for (let crash = 0; crash < 5; crash += 1) {
      const resumed = world.boot();
      // First nothing is read, then the slow row and more and more of what is settled behind it.
      expect(world.work(resumed, crash * 400)).toEqual(crash === 0 ? [] : ['0']);
      world.save(resumed);
      expect(world.saved.completed).toHaveLength(1);
    }
    const last = world.boot();
    expect(world.work(last, Infinity)).toEqual(['0']);
    last.succeed(last.running[0] ?? expect.unreachable('the slow handler runs'));
    world.save(last);
    world.promises.finished(world.saved);
  });
});
