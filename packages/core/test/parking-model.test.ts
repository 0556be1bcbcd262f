import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PermanentError } from '../src/errors.js';
import { Executor } from '../src/executor.js';
import type { ParkedStrand } from '../src/parked-strands.js';
import type { Strand } from '../src/strand.js';
import { event, executorOptions } from './fixtures.js';
import { naiveWatermark } from './naive-watermark.js';

/** One thing that can happen. `nth` names one of those that it can happen to, counted round. */
type Step =
  | { readonly do: 'admit'; readonly key: string }
  | { readonly do: 'take' }
  | { readonly do: 'succeed' | 'fail' | 'tooLong'; readonly nth: number }
  | { readonly do: 'halt' | 'skip' | 'parkHead' | 'headStored' | 'narrow'; readonly nth: number }
  | { readonly do: 'overflow' | 'unpark'; readonly key: string }
  | { readonly do: 'takeParked'; readonly max: number }
  | { readonly do: 'stored' | 'notStored'; readonly nth: number }
  | { readonly do: 'holdParked' | 'letGo'; readonly key: string }
  | { readonly do: 'hold' | 'release' | 'giveUp'; readonly key: string }
  | { readonly do: 'headNotStored'; readonly nth: number };

const nth = fc.nat(20);
const key = fc.constantFrom('a', 'a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('admit'), key }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('take') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('succeed'), nth }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fail'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tooLong'), nth }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('skip', 'parkHead', 'parkHead', 'narrow'), nth }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('headStored'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('halt'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('overflow'), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('unpark'), key }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('takeParked'), max: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('stored'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('notStored'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('holdParked', 'letGo'), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('hold', 'release', 'giveUp'), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('headNotStored'), nth }) },
);

/**
 * What became of each event, in the order in which it became so. The executor is judged by that alone: of one key
 * everything is settled once and in the order of admission, and what is stored comes after what is live.
 */
class History {
  readonly settled: boolean[] = [];
  readonly #ofKey = new Map<string, string[]>();
  readonly #ends = new Map<string, string[]>();

  admit(key: string): number {
    const n = this.settled.push(false) - 1;
    this.#ofKey.set(key, [...(this.#ofKey.get(key) ?? []), String(n)]);
    return n;
  }

  settle(key: string, ids: readonly string[]): void {
    for (const id of ids) this.settled[Number(id)] = true;
    const ends = [...(this.#ends.get(key) ?? []), ...ids];
    this.#ends.set(key, ends);
    expect(ends, `the order of key ${key}`).toEqual(this.#ofKey.get(key)?.slice(0, ends.length));
  }
}

class World {
  readonly history = new History();
  readonly executor: Executor;
  readonly running: Strand[] = [];
  readonly exhausted: Strand[] = [];
  /** Heads that are being stored. */
  readonly heads: Strand[] = [];
  readonly storing: ParkedStrand[] = [];
  /** Keys that an operator holds. */
  readonly held = new Set<string>();

  constructor(concurrency: number, batch: number) {
    const retry = {
      attempts: 1,
      maxElapsed: 0,
      initialDelay: 0,
      maxDelay: 0,
      factor: 1,
      jitter: 'none',
    } as const;
    this.executor = new Executor(executorOptions({ concurrency, batch, retry }));
  }

  play(step: Step): void {
    const { executor } = this;
    switch (step.do) {
      case 'admit':
        executor.admit(event(step.key, this.history.admit(step.key)));
        return;
      case 'take': {
        const strand = executor.take();
        if (strand === null) return;
        expect(
          this.running.some((other) => other.key === strand.key),
          'two handlers of one key',
        ).toBe(false);
        expect(this.held.has(strand.key), 'a turn of a held key').toBe(false);
        this.running.push(strand);
        return;
      }
      case 'hold':
        executor.hold([step.key]);
        this.held.add(step.key);
        return;
      case 'release':
        executor.release([step.key]);
        this.held.delete(step.key);
        return;
      case 'giveUp': {
        const strand = executor.strandOf(step.key);
        if (strand !== undefined && executor.giveUp(strand)) this.exhausted.push(strand);
        return;
      }
      case 'headNotStored':
        this.one(this.heads, step.nth, (strand) => {
          executor.unholdHead(strand);
          executor.takeBack(strand);
        });
        return;
      case 'tooLong': {
        const strand = this.running[step.nth % Math.max(1, this.running.length)];
        if (strand !== undefined) executor.tooLong(strand);
        return;
      }
      case 'succeed':
        this.one(this.running, step.nth, (strand) => {
          this.settle(strand);
          executor.succeed(strand);
        });
        return;
      case 'fail':
        this.one(this.running, step.nth, (strand) => {
          expect(executor.fail(strand, new PermanentError('no'), 0).outcome).toBe('exhausted');
          this.exhausted.push(strand);
        });
        return;
      case 'halt':
        this.one(this.exhausted, step.nth, (strand) => {
          executor.halt(strand);
        });
        return;
      case 'narrow':
        this.one(this.exhausted, step.nth, (strand) => {
          if (!executor.narrow(strand)) this.exhausted.push(strand);
        });
        return;
      case 'skip':
        this.one(this.exhausted, step.nth, (strand) => {
          this.settle(strand);
          executor.skip(strand);
        });
        return;
      case 'parkHead':
        this.one(this.exhausted, step.nth, (strand) => {
          const ids = strand.events().map(({ id }) => id);
          if (executor.isParked(strand.key)) {
            this.history.settle(strand.key, ids);
            executor.skipAll(strand);
          } else {
            executor.holdHead(strand);
            this.heads.push(strand);
          }
        });
        return;
      case 'headStored':
        this.one(this.heads, step.nth, (strand) => {
          this.settle(strand);
          executor.skip(strand);
          executor.holdParked(strand.key, false);
        });
        return;
      case 'overflow':
        executor.divert(step.key);
        return;
      case 'unpark':
        // The shell waits until what is live is done and nothing is being stored.
        if (executor.isLive(step.key) || executor.isStoring(step.key)) return;
        executor.unpark(step.key);
        return;
      case 'takeParked': {
        const parked = executor.takeParked(step.max);
        if (parked === null) return;
        expect(
          this.storing.some((other) => other.key === parked.key),
          'two stores of one key',
        ).toBe(false);
        this.storing.push(parked);
        return;
      }
      case 'stored':
        this.one(this.storing, step.nth, (parked) => {
          // What is live comes before: a store that overtakes it has a place behind it in the table.
          this.later.push(
            ...parked.first(parked.storing).map(({ event }) => [parked.key, event.id] as const),
          );
          this.flush();
          executor.stored(parked);
        });
        return;
      case 'notStored':
        this.one(this.storing, step.nth, (parked) => {
          executor.notStored(parked);
        });
        return;
      case 'holdParked':
      case 'letGo':
        // Of a head that is being stored nothing may be let go before.
        if (this.heads.some(({ key }) => key === step.key)) return;
        executor.holdParked(step.key, step.do === 'holdParked');
    }
  }

  /** Events that are stored while what is live of their key is not done. */
  readonly later: (readonly [string, string])[] = [];

  /** What is stored counts once nothing of its key is live. */
  flush(): void {
    for (const stored of [...this.later]) {
      const [key, id] = stored;
      if (this.executor.isLive(key)) {
        this.history.settled[Number(id)] = true;
        continue;
      }
      this.later.splice(this.later.indexOf(stored), 1);
      this.history.settle(key, [id]);
    }
  }

  check(): void {
    this.flush();
    const { watermark, completed } = naiveWatermark(this.history.settled);
    expect(this.executor.watermark).toBe(watermark);
    expect(this.executor.completed()).toEqual(completed);
    const unsettled = this.history.settled.filter((settled) => !settled).length;
    const counts = this.executor.counts();
    expect(counts.unsettled).toBe(unsettled);
    expect(counts.bytes).toBe(unsettled);
    expect(counts.running + counts.stuck).toBe(this.running.length);
    expect(counts.exhausted).toBe(this.exhausted.length + this.heads.length);
  }

  private settle(strand: Strand): void {
    this.history.settle(
      strand.key,
      strand.inFlightEvents().map(({ id }) => id),
    );
  }

  private one<T>(from: T[], nth: number, work: (one: T) => void): void {
    const [one] = from.splice(nth % Math.max(1, from.length), 1);
    if (one !== undefined) work(one);
  }
}

describe('per-key order, under every policy', () => {
  it('each event is handled or stored once and in its order, and the watermark follows what is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 150, size: 'max' }),
        (concurrency, batch, steps) => {
          const world = new World(concurrency, batch);
          for (const step of steps) {
            world.play(step);
            world.check();
          }
        },
      ),
      { numRuns: 500 },
    );
  }, 30_000);
});
