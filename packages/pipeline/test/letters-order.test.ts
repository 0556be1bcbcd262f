import { PermanentError, StrandlineError, type Offset, type OutboxEvent } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import type { PipelineOptions } from '../src/config.js';
import { Run } from '../src/run.js';
import { FakeLetters } from './fake-letters.js';
import { event, FakeStore, keptLog, offsetAt, pipelineConfig, turn } from './fixtures.js';
import { ScriptedStream } from './scripted-source.js';

const FIRST_SEED = Number(process.env['LETTERS_SEED'] ?? 1);
const RUNS = Number(process.env['LETTERS_RUNS'] ?? 60);
const KEYS = ['a', 'b', 'c'];
/** Parking has the most that can go wrong. */
const POLICIES = ['park', 'park', 'skip', 'halt'] as const;
const ACTS = ['retry', 'retry', 'retry', 'retry', 'skip', 'discard'] as const;

/** mulberry32: a number in [0, 1) per call, the same ones for a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const never = (): Promise<never> => new Promise(() => undefined);

/** What was handled of each key over all lives, judged as it comes. */
class Judge {
  readonly #nth = new Map<string, number>();
  readonly #last = new Map<string, number>();
  readonly handled = new Set<string>();
  /** Left out by policy or by somebody: they hold nothing up. */
  readonly #gone = new Set<string>();
  readonly #log: readonly OutboxEvent[];
  readonly trace: string[] = [];
  readonly #running = new Set<string>();
  /** Keys that may go back: a life has ended since they were last seen. */
  readonly #mayGoBack = new Set<string>();

  constructor(log: readonly OutboxEvent[]) {
    this.#log = log;
    const counts = new Map<string, number>();
    for (const { id, key } of log) {
      const nth = counts.get(key) ?? 0;
      counts.set(key, nth + 1);
      this.#nth.set(id, nth);
    }
  }

  leftOut(id: string): void {
    this.#gone.add(id);
  }

  /** Of what is neither handled nor left out. */
  missing(): OutboxEvent[] {
    return this.#log.filter(({ id }) => !this.handled.has(id) && !this.#gone.has(id));
  }

  /** The first one of a key after the nth that was not left out. */
  #next(key: string, nth: number): number {
    const next = this.#log.find(
      (event) => event.key === key && (this.#nth.get(event.id) ?? 0) > nth && !this.#gone.has(event.id),
    );
    return next === undefined ? Infinity : (this.#nth.get(next.id) ?? NaN);
  }

  started({ key, id }: OutboxEvent): void {
    expect(this.#running.has(key), `two handlers of ${key}`).toBe(false);
    this.#running.add(key);
    this.trace.push(`${key}${String(this.#nth.get(id))} starts`);
    const nth = this.#nth.get(id) ?? NaN;
    const last = this.#last.get(key) ?? -1;
    expect(nth, `a gap in ${key}`).toBeLessThanOrEqual(this.#next(key, last));
    if (!this.#mayGoBack.has(key)) expect(nth, `the order of ${key}`).toBeGreaterThan(last);
  }

  ended({ key, id }: OutboxEvent, succeeded: boolean): void {
    this.#running.delete(key);
    this.trace.push(`${key}${String(this.#nth.get(id))} ${succeeded ? 'done' : 'failed'}`);
    if (!succeeded) return;
    this.#mayGoBack.delete(key);
    this.#last.set(key, this.#nth.get(id) ?? NaN);
    this.handled.add(id);
  }

  /** What was seen of a key. */
  storyOf(key: string): string {
    return this.trace
      .filter((line) => line.startsWith(key) || line.startsWith('-'))
      .slice(-40)
      .join('\n');
  }

  crashed(saved: Offset): void {
    const completed = saved.completed.map(({ first, last }) => `${first}-${last}`).join(' ');
    this.trace.push(`- crash, saved ${saved.watermark} ${completed}`);
    this.#running.clear();
    for (const key of KEYS) this.#mayGoBack.add(key);
  }
}

/** The same table, with something awaited before each call and after it. */
function seenThrough(letters: FakeLetters, gate: () => Promise<void>): FakeLetters {
  return new Proxy(letters, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        await gate();
        const result: unknown = await (value.apply(target, args) as Promise<unknown>);
        await gate();
        return result;
      };
    },
  });
}

/** One life of a pipeline. Once it is dead nothing that it does has an effect, nor an end. */
class Life {
  readonly run: Run;
  readonly #stream: ScriptedStream;
  readonly #store = new FakeStore();
  dead = false;
  given = 0;

  constructor(
    readonly world: World,
    offset: Offset,
    claimed: Exclude<Awaited<ReturnType<FakeLetters['claim']>>, 'fenced'>,
  ) {
    const { letters, options, judge, random } = world;
    this.#stream = new ScriptedStream(offset);
    this.#store.answer = (saved) => {
      if (this.dead) return never();
      if (random() < 0.2)
        throw new StrandlineError('OFFSETS_UNAVAILABLE', 'away', 'wait', { transient: true });
      world.saved = saved;
      return 'saved';
    };
    const seen = seenThrough(letters, () => (this.dead ? never() : turns(random() * 4)));
    const config = pipelineConfig({
      ...options,
      offsets: this.#store,
      deadLetters: seen,
      log: keptLog().log,
      batch: undefined,
      handle: async (event) => {
        if (this.dead) return never();
        try {
          world.noteSkipped();
          judge.started(event);
        } catch (error) {
          world.failure ??= new Error(
            `${String(error)}\n${judge.storyOf(event.key)}\n${world.lettersOf(event.key)}`,
          );
        }
        await turns(random() * 5);
        if (this.isDead()) return never();
        const fails = world.fails();
        judge.ended(event, !fails);
        if (fails) throw random() < 0.5 ? new PermanentError('no') : new Error('not now');
        return undefined;
      },
    });
    this.run = new Run({
      config,
      stream: this.#stream,
      log: keptLog().log,
      claimed: { store: seen, fence: { pipeline: 'shop', epoch: offset.epoch }, ...claimed },
    });
    this.run.run().catch((error: unknown) => {
      world.failure ??= error;
    });
  }

  private isDead(): boolean {
    return this.dead;
  }

  /** Hands over the next rows of the log. */
  give(rows: number): void {
    const { log } = this.world;
    const next = log.slice(this.given, this.given + rows);
    this.given += next.length;
    const last = next.at(-1);
    if (last !== undefined) this.#stream.give(next, Number(last.id));
  }
}

class World {
  readonly letters = new FakeLetters();
  readonly log: OutboxEvent[];
  readonly judge: Judge;
  saved: Offset = offsetAt(0);
  failure: unknown = null;
  /** How likely a handler fails. */
  trouble = 0.25;

  constructor(
    readonly random: () => number,
    readonly options: Partial<PipelineOptions>,
  ) {
    this.log = Array.from({ length: 40 }, (_, n) => event(KEYS[Math.floor(random() * 3)] ?? 'a', n + 1));
    this.judge = new Judge(this.log);
  }

  fails(): boolean {
    return this.random() < this.trouble;
  }

  lettersOf(key: string): string {
    const ofKey = this.letters.letters.filter(({ event }) => event.key === key);
    return ofKey.map(({ event, state, place }) => `${event.id} ${state} at ${String(place)}`).join(', ');
  }

  async boot(): Promise<Life> {
    // Without the table nobody starts.
    this.letters.away = false;
    this.saved = { ...this.saved, epoch: this.saved.epoch + 1 };
    const claimed = await this.letters.claim({ pipeline: 'shop', epoch: this.saved.epoch });
    if (claimed === 'fenced') throw new Error('fenced');
    const life = new Life(this, this.saved, claimed);
    // The log begins at the watermark's row, or earlier.
    life.given = Math.max(0, Number(this.saved.watermark.slice(1)) - 1 - Math.floor(this.random() * 3));
    return life;
  }

  /** What an operator does to a key that has letters waiting. */
  release(key: string, by: 'retry' | 'skip' | 'discard' = 'retry'): void {
    const waiting = this.letters.waiting(key);
    if (waiting.length === 0) return;
    const left = by === 'retry' ? [] : by === 'skip' ? waiting.slice(0, 1) : waiting;
    for (const letter of left) {
      letter.state = by === 'skip' ? 'skipped' : 'discarded';
      this.judge.leftOut(letter.event.id);
    }
    this.letters.releasedKeys.add(key);
  }

  /** What the pipeline itself has skipped. */
  noteSkipped(): void {
    for (const { state, event } of this.letters.letters)
      if (state === 'skipped') this.judge.leftOut(event.id);
  }
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await turn();
}

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function play(seed: number): Promise<void> {
  const random = randomOf(seed);
  const world = new World(random, {
    commitInterval: 1,
    concurrency: 2,
    parking: { poll: 10 },
    retry: { attempts: 2, initialDelay: 0, maxDelay: 1 },
    onFailure: POLICIES[Math.floor(random() * POLICIES.length)] ?? 'park',
    ...(random() < 0.5 ? { maxPerKey: 2, overflow: 'park' as const } : {}),
  });
  let life = await world.boot();
  const steps = 12 + Math.floor(random() * 12);
  for (let step = 0; step < steps; step += 1) {
    life.give(Math.floor(random() * 8));
    const what = random();
    if (what < 0.2) {
      life.dead = true;
      world.judge.crashed(world.saved);
      life = await world.boot();
    } else if (what < 0.5) {
      world.release(KEYS[Math.floor(random() * 3)] ?? 'a', ACTS[Math.floor(random() * ACTS.length)]);
    } else if (what < 0.6) {
      world.letters.away = !world.letters.away;
    }
    await wait(random() * 12);
    if (world.failure !== null) throw world.failure as Error;
  }
  // Everything works again, and somebody releases what waits.
  world.trouble = 0;
  world.letters.away = false;
  if (life.run.executor.counts().halted > 0) {
    life.dead = true;
    world.judge.crashed(world.saved);
    life = await world.boot();
  }
  life.give(world.log.length);
  const giveUpAt = performance.now() + 8_000;
  for (;;) {
    world.noteSkipped();
    const missing = world.judge.missing();
    if (missing.length === 0) break;
    if (world.failure !== null) throw world.failure as Error;
    if (performance.now() > giveUpAt)
      throw new Error(`never handled: ${missing.map(({ id, key }) => `${key}${id}`).join(' ')}`);
    for (const key of KEYS) world.release(key);
    await wait(5);
  }
  life.dead = true;
}

describe(`per-key order under every policy, whatever fails, crashes or is released (${String(RUNS)} seeds from ${String(FIRST_SEED)})`, () => {
  it(
    'no event is lost, none passes another of its key, and no two handlers of a key run at once',
    async () => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 10) {
        const seeds = Array.from({ length: Math.min(10, FIRST_SEED + RUNS - seed) }, (_, i) => seed + i);
        await Promise.all(
          seeds.map((one) =>
            play(one).catch((error: unknown) => {
              throw new Error(`seed ${String(one)}`, { cause: error });
            }),
          ),
        );
      }
    },
    60_000 + RUNS * 300,
  );
});
