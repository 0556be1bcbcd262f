import {
  OwnershipLostError,
  PermanentError,
  type Failure,
  type Offset,
  type OutboxEvent,
} from '@strandline/core';
import { describe, expect, it, vi } from 'vitest';
import type { Handler, PipelineOptions } from '../src/config.js';
import { Run } from '../src/run.js';
import { nameOf } from '../src/letters/suspects.js';
import { FakeLetters } from './fake-letters.js';
import { event, FakeStore, gate, keptLog, offsetAt, pipelineConfig, position, until } from './fixtures.js';
import { ScriptedStream } from './scripted-source.js';

/** A run with a dead-letter table. `handle` fails for ever for the events named bad, until they are good again. */
class Setup {
  readonly store = new FakeStore();
  readonly kept = keptLog();
  readonly stream: ScriptedStream;
  readonly seen: string[] = [];
  readonly bad = new Set<string>();
  run: Run | null = null;
  ended: unknown;

  constructor(
    readonly letters: FakeLetters = new FakeLetters(),
    readonly options: Partial<PipelineOptions> = {},
    offset: Offset = offsetAt(0),
  ) {
    this.stream = new ScriptedStream(offset);
  }

  async start(handle?: Handler): Promise<this> {
    const config = pipelineConfig({
      offsets: this.store,
      commitInterval: 1,
      drainTimeout: 1_000,
      log: this.kept.log,
      deadLetters: this.letters,
      parking: { poll: 10 },
      ...this.options,
      batch: undefined,
      handle: (event, ctx) => {
        this.seen.push(event.id);
        if (this.bad.has(event.id)) return Promise.reject(new PermanentError('bad'));
        return handle?.(event, ctx) ?? Promise.resolve();
      },
    });
    const claimed = await this.letters.claim();
    if (claimed === 'fenced') throw new Error('fenced');
    const fence = { pipeline: 'shop', epoch: 3 };
    this.run = new Run({
      config,
      stream: this.stream,
      log: this.kept.log,
      claimed: { store: this.letters, fence, ...claimed },
    });
    this.run.run().then(
      () => {
        this.ended = null;
      },
      (error: unknown) => {
        this.ended = error;
      },
    );
    return this;
  }

  get watermark(): string {
    return this.run?.executor.watermark ?? '';
  }

  async stop(): Promise<void> {
    this.run?.stop();
    await until('it has ended', () => this.ended !== undefined);
  }
}

/** One event per letter of `keys`, numbered from `first`. */
function events(keys: string, first = 1): OutboxEvent[] {
  return Array.from({ length: keys.length }, (_, i) => event(keys.charAt(i), first + i));
}

const settled = (setup: Setup, n: number): Promise<void> =>
  until(`${position(n)} is settled`, () => setup.watermark === position(n));

describe('an event that no retry can help', () => {
  it('is parked, and what follows of its key behind it, in order; other keys go on', async () => {
    const setup = await new Setup().start();
    setup.bad.add('1');
    setup.stream.give(events('abaab'));
    setup.stream.give(events('ab', 6), 8);
    await settled(setup, 8);
    expect(setup.seen).toEqual(['1', '2', '5', '7']);
    expect(setup.letters.idsWaiting('a')).toEqual(['1', '3', '4', '6']);
    expect(setup.letters.letters.map(({ reason }) => reason)).toEqual([
      'failed',
      'behind',
      'behind',
      'behind',
    ]);
    const [first] = setup.letters.letters;
    expect(first?.failure).toMatchObject({ attempts: 1, error: { name: 'PermanentError', message: 'bad' } });
    await setup.stop();
  });

  it('tells what each of its attempts failed with; released, it counts on from there', async () => {
    const retry = { attempts: 4, initialDelay: 0, maxDelay: 0 };
    const setup = await new Setup(new FakeLetters(), { retry }).start((_, { attempt }) => {
      if (isBetter) return Promise.resolve();
      calls.push(attempt);
      return Promise.reject(new Error(calls.length <= 3 ? 'timed out' : 'no stock\nof the payload'));
    });
    let isBetter = false;
    const calls: number[] = [];
    const attempts = (first: number, last: number, message: string): object => ({
      ...{ first, last },
      error: { name: 'Error', code: null, message },
    });
    const failureOf = (id: string): Failure | null | undefined =>
      setup.letters.letters.find(({ event }) => event.id === id)?.failure;
    setup.stream.give(events('aa'), 3);
    await settled(setup, 3);
    const before = failureOf('1');
    expect(before?.history).toMatchObject([attempts(1, 3, 'timed out'), attempts(4, 4, 'no stock')]);
    expect(before?.history.at(0)?.firstFailedAt).toBe(before?.firstFailedAt);
    expect(before?.history.at(-1)?.lastFailedAt).toBe(before?.lastFailedAt);
    setup.letters.releasedKeys.add('a');
    await until('it has failed again', () => failureOf('1')?.attempts === 8);
    const after = failureOf('1');
    expect(calls).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
    expect(after?.history).toMatchObject([attempts(1, 3, 'timed out'), attempts(4, 8, 'no stock')]);
    expect(after?.history[0]).toEqual(before?.history[0]);
    expect(after?.history[1]?.firstFailedAt).toBe(before?.lastFailedAt);
    expect(after?.history[1]?.lastFailedAt).toBe(after?.lastFailedAt);
    expect(failureOf('2')).toBeNull();
    isBetter = true;
    await setup.stop();
  });

  it('is settled only when it is stored: while the table is away its key holds, says so, and other keys go on', async () => {
    const setup = await new Setup().start();
    setup.letters.away = true;
    setup.bad.add('1');
    setup.stream.give(events('abab'), 5);
    await until('b is handled', () => setup.seen.includes('4'));
    await until('it is said', () => setup.kept.said('the dead-letter table is away').length > 0);
    expect(setup.watermark).toBe(position(0));
    expect(setup.run?.letters?.available).toBe(false);
    setup.letters.away = false;
    await settled(setup, 5);
    expect(setup.letters.idsWaiting('a')).toEqual(['1', '3']);
    expect(setup.kept.said('the dead-letter table is back')).toHaveLength(1);
    await setup.stop();
  });

  it('with skip it alone is kept, and the next of its key is handled', async () => {
    const setup = await new Setup(new FakeLetters(), { onFailure: 'skip' }).start();
    setup.bad.add('1');
    setup.stream.give(events('aab'), 4);
    await settled(setup, 4);
    expect(setup.seen.toSorted()).toEqual(['1', '2', '3']);
    expect(setup.letters.letters.map(({ event, state }) => [event.id, state])).toEqual([['1', 'skipped']]);
    await setup.stop();
  });

  it('with halt its key stands still and holds the log', async () => {
    const setup = await new Setup(new FakeLetters(), { onFailure: 'halt' }).start();
    setup.bad.add('1');
    setup.stream.give(events('aab'), 4);
    await until('b is handled', () => setup.seen.includes('3'));
    expect(setup.watermark).toBe(position(0));
    expect(setup.letters.letters).toEqual([]);
    await setup.stop();
  });

  it('at the limit of the table its key halts, and no other does', async () => {
    const limits = { perKey: 2, inAll: 100 };
    const setup = await new Setup(new FakeLetters(), { parking: { poll: 10, limits } }).start();
    setup.bad.add('1');
    setup.stream.give(events('aaaab'), 6);
    await until('b is handled', () => setup.seen.includes('5'));
    await until('it is said', () => setup.kept.said('the dead-letter table is full').length > 0);
    expect(setup.letters.idsWaiting('a')).toEqual(['1', '2']);
    expect(setup.watermark).toBe(position(2));
    expect(setup.run?.letters?.fullKeys).toEqual(['a']);
    // Somebody gives one up: there is room again, for one.
    for (const letter of setup.letters.waiting('a').slice(0, 1)) letter.state = 'discarded';
    await until('there was room', () => setup.letters.idsWaiting('a').join() === '2,3');
    expect(setup.kept.said('the dead-letter table is full').length).toBeGreaterThan(0);
    await setup.stop();
  });

  it('that the table does not take halts its key, and no other', async () => {
    const setup = await new Setup().start();
    setup.letters.refuses = '1';
    setup.bad.add('1');
    setup.stream.give(events('aab'), 4);
    await until('b is handled', () => setup.seen.includes('3'));
    await until('a is halted', () => setup.run?.executor.counts().halted === 1);
    expect(setup.ended).toBeUndefined();
    expect(setup.watermark).toBe(position(0));
    await setup.stop();
  });

  it('of a former owner is stored by nobody: the run is over', async () => {
    const setup = await new Setup().start();
    setup.letters.fenced = true;
    setup.bad.add('1');
    setup.stream.give(events('a'), 2);
    await until('it has ended', () => setup.ended !== undefined);
    expect(setup.ended).toBeInstanceOf(OwnershipLostError);
    expect(setup.letters.letters).toEqual([]);
    expect(setup.letters.endedInOrder).toBe(0);
  });
});

describe('a released key', () => {
  it('has its letters handled in order, then what came meanwhile, and is live again', async () => {
    const setup = await new Setup().start();
    setup.bad.add('1');
    setup.stream.give(events('aaa'), 4);
    await settled(setup, 4);
    setup.bad.clear();
    setup.letters.releasedKeys.add('a');
    await until('it is live again', () => setup.run?.executor.isParked('a') === false);
    setup.stream.give(events('a', 4), 6);
    await settled(setup, 6);
    expect(setup.seen).toEqual(['1', '1', '2', '3', '4']);
    expect(setup.letters.idsWaiting('a')).toEqual([]);
    await setup.stop();
  });

  it('lets no live event pass its letters, however the two are timed', async () => {
    const slow = gate();
    const setup = await new Setup().start((event) => (event.id === '2' ? slow.promise : undefined));
    setup.bad.add('1');
    setup.stream.give(events('aaa'), 4);
    await settled(setup, 4);
    setup.bad.clear();
    setup.letters.releasedKeys.add('a');
    await until('the second letter runs', () => setup.seen.includes('2'));
    setup.stream.give(events('aab', 4), 8);
    await settled(setup, 8);
    expect(setup.letters.idsWaiting('a').slice(-4)).toEqual(['2', '3', '4', '5']);
    slow.open();
    await until('all are handled', () => setup.seen.includes('5'));
    expect(setup.seen.filter((id) => id !== '6')).toEqual(['1', '1', '2', '3', '4', '5']);
    await setup.stop();
  });

  it('has nothing handled while the log may be another owner’s', async () => {
    const setup = await new Setup().start();
    setup.bad.add('1');
    setup.stream.give(events('aa'), 2);
    await settled(setup, 2);
    setup.bad.clear();
    setup.stream.doubt(true);
    setup.letters.releasedKeys.add('a');
    await until('it is taken up', () => setup.run?.letters?.releasing.includes('a') === true);
    let asked = 0;
    setup.letters.before = () => {
      asked += 1;
      return Promise.resolve();
    };
    await until('the table was asked again and again', () => asked >= 3);
    expect(setup.seen).toEqual(['1']);
    setup.stream.doubt(false);
    await until('all are handled', () => setup.seen.includes('2'));
    expect(setup.seen).toEqual(['1', '1', '2']);
    await setup.stop();
  });

  it('whose letter fails again is parked at the same place', async () => {
    const setup = await new Setup().start();
    setup.bad.add('1').add('2');
    setup.stream.give(events('aaa'), 4);
    await settled(setup, 4);
    setup.bad.delete('1');
    setup.letters.releasedKeys.add('a');
    await until(
      'it is parked again',
      () => setup.kept.said('failed for good: its key is parked again').length > 0,
    );
    expect(setup.letters.idsWaiting('a')).toEqual(['2', '3']);
    expect(setup.letters.waiting('a')[0]?.failure).toMatchObject({ attempts: 1 });
    expect(setup.run?.executor.isParked('a')).toBe(true);
    await setup.stop();
  });

  it('is retried for as long as the policy says, by a clock that nobody sets', async () => {
    const retry = { attempts: Infinity, maxElapsed: 60_000, initialDelay: 1, maxDelay: 2 };
    let calls = 0;
    const setup = await new Setup(new FakeLetters(), { retry }).start(() => {
      calls += 1;
      if (calls === 2) vi.spyOn(Date, 'now').mockImplementation(() => 4_000_000_000_000);
      return calls < 3 ? Promise.reject(new Error('not now')) : undefined;
    });
    setup.bad.add('1');
    setup.stream.give(events('a'), 2);
    await settled(setup, 2);
    setup.bad.clear();
    setup.letters.releasedKeys.add('a');
    await until('it is live again', () => setup.run?.executor.isParked('a') === false);
    vi.restoreAllMocks();
    expect(calls).toBe(3);
    await setup.stop();
  });

  it('is retried by the policy of the pipeline, and its key takes no place of the others', async () => {
    const letters = new FakeLetters();
    const setup = await new Setup(letters, { concurrency: 1 }).start();
    setup.bad.add('1');
    setup.stream.give(events('a'), 2);
    await settled(setup, 2);
    await setup.stop();
    const slow = gate();
    const other = await new Setup(letters, { concurrency: 1 }, offsetAt(2)).start((event) =>
      event.key === 'a' ? slow.promise : undefined,
    );
    letters.releasedKeys.add('a');
    await until('the letter runs', () => other.seen.includes('1'));
    other.stream.give(events('bc', 3), 5);
    await settled(other, 5);
    slow.open();
    await other.stop();
  });
});

describe('after a crash', () => {
  it('what the log delivers again is not stored twice, and keeps its place', async () => {
    const letters = new FakeLetters();
    const first = await new Setup(letters).start();
    first.bad.add('1');
    first.stream.give(events('aaa'), 4);
    await settled(first, 4);
    await first.stop();
    const second = await new Setup(letters).start();
    second.bad.add('1');
    second.stream.give(events('aaaa'), 5);
    await settled(second, 5);
    expect(letters.idsWaiting('a')).toEqual(['1', '2', '3', '4']);
    expect(second.seen).toEqual([]);
    await second.stop();
  });

  it('what was handled before the head of the letters is handled again before it, and not behind it', async () => {
    const letters = new FakeLetters();
    const first = await new Setup(letters).start();
    first.bad.add('2');
    first.stream.give(events('aaa'), 4);
    await settled(first, 4);
    expect(letters.idsWaiting('a')).toEqual(['2', '3']);
    await first.stop();
    const second = await new Setup(letters).start();
    letters.releasedKeys.add('a');
    second.stream.give(events('aaaa'), 5);
    await until('all are handled', () => second.seen.includes('4'));
    expect(second.seen).toEqual(['1', '2', '3', '4']);
    await second.stop();
  });
});

describe('a key that fills its share of the window', () => {
  it('pauses the log by default, and says so', async () => {
    const slow = gate();
    const setup = await new Setup(new FakeLetters(), { maxPerKey: 2 }).start((event) =>
      event.key === 'a' ? slow.promise : undefined,
    );
    setup.stream.give(events('aaab'), 5);
    await until('it is paused', () => setup.run?.paused === 'key');
    expect(setup.seen).toEqual(['1']);
    slow.open();
    await settled(setup, 5);
    await setup.stop();
  });

  it('with overflow: park the rest is stored and handled from there, in order, and other keys do not notice', async () => {
    const slow = gate();
    const setup = await new Setup(new FakeLetters(), { maxPerKey: 2, overflow: 'park' }).start((event) =>
      event.id === '1' ? slow.promise : undefined,
    );
    setup.stream.give(events('aaaabab'), 8);
    await until('b is handled', () => setup.seen.includes('5') && setup.seen.includes('7'));
    await until('a has overflown', () => setup.letters.idsWaiting('a').length > 0);
    slow.open();
    await until('all are handled', () => setup.seen.includes('6'));
    expect(setup.seen.filter((id) => !['5', '7'].includes(id))).toEqual(['1', '2', '3', '4', '6']);
    await settled(setup, 8);
    await setup.stop();
  });

  it('is not worked off before what was live of it is saved: a crash would handle that again behind it', async () => {
    const slow = gate();
    const saving = gate();
    const letters = new FakeLetters();
    const setup = await new Setup(letters, { maxPerKey: 1, overflow: 'park' }).start((event) =>
      event.id === '1' ? slow.promise : undefined,
    );
    setup.stream.give(events('aa'), 2);
    await until('a has overflown', () => letters.idsWaiting('a').length === 1);
    setup.store.answer = () => saving.promise.then(() => 'saved' as const);
    slow.open();
    await until('the live one is handled', () => setup.run?.executor.settled === 2);
    let asked = 0;
    letters.before = () => {
      asked += 1;
      return Promise.resolve();
    };
    await until('the table was asked again and again', () => asked >= 3);
    expect(setup.seen).toEqual(['1']);
    saving.open();
    await until('the letter is handled', () => setup.seen.includes('2'));
    await setup.stop();
  });

  it('and whose live head takes long holds up no other key that is released', async () => {
    const slow = gate();
    const options = {
      maxPerKey: 1,
      overflow: 'park',
      parking: { poll: 10, concurrency: 1 },
    } as const;
    const setup = await new Setup(new FakeLetters(), options).start((event) =>
      event.id === '1' ? slow.promise : undefined,
    );
    setup.bad.add('3');
    setup.stream.give(events('aab'), 4);
    await until('a has overflown', () => setup.letters.idsWaiting('a').length === 1);
    await until('b is parked', () => setup.letters.idsWaiting('b').length === 1);
    setup.bad.clear();
    setup.letters.releasedKeys.add('b');
    await until('b is handled', () => setup.seen.filter((id) => id === '3').length === 2);
    slow.open();
    await until('a is handled', () => setup.seen.includes('2'));
    await setup.stop();
  });

  it('whose head fails for good is parked before what has overflown', async () => {
    const slow = gate();
    const setup = await new Setup(new FakeLetters(), { maxPerKey: 1, overflow: 'park' }).start((event) =>
      event.id === '1' ? slow.promise.then(() => Promise.reject(new PermanentError('no'))) : undefined,
    );
    setup.stream.give(events('aaa'), 4);
    await until('a has overflown', () => setup.letters.idsWaiting('a').length === 2);
    slow.open();
    await settled(setup, 4);
    expect(setup.letters.idsWaiting('a')).toEqual(['1', '2', '3']);
    expect(setup.letters.releasedKeys.has('a')).toBe(false);
    expect(setup.seen).toEqual(['1']);
    await setup.stop();
  });
});

describe('a schedule', () => {
  it('releases a key from its first failure on, later after each one, and from the start once it was live', async () => {
    const schedule = { initialDelay: 60_000, maxDelay: 150_000 };
    const setup = await new Setup(new FakeLetters(), { parking: { poll: 10, schedule } }).start();
    const { letters, bad } = setup;
    const delays = (): number[] =>
      letters.retryAts.map((at) => Math.round((Date.parse(at ?? '') - Date.now()) / 30_000) * 30_000);
    bad.add('1');
    setup.stream.give(events('a'), 2);
    for (const times of [1, 2, 3, 4]) {
      await until(`it has failed ${String(times)} times`, () => letters.retryAts.length === times);
      letters.releasedKeys.add('a');
    }
    expect(delays().slice(0, 4)).toEqual([60_000, 120_000, 150_000, 150_000]);
    bad.clear();
    letters.releasedKeys.add('a');
    await until('it is live', () => setup.kept.said('a parked key is live again').length > 0);
    letters.retryAts.length = 0;
    bad.add('2');
    setup.stream.give(events('a', 2), 3);
    await until('it has failed again', () => letters.retryAts.length === 1);
    expect(delays()).toEqual([60_000]);
    await setup.stop();
  });

  it('is none by default: a parked key waits for somebody', async () => {
    const setup = await new Setup().start();
    setup.bad.add('1');
    setup.stream.give(events('a'), 2);
    await settled(setup, 2);
    expect(setup.letters.retryAts).toEqual([null]);
    await setup.stop();
  });
});

describe('an event whose handler ends the process', () => {
  it('is found by running the suspects one at a time, and parked', async () => {
    const letters = new FakeLetters();
    letters.crashes = { unclean: true, inARow: 3, suspect: null };
    const suspecting = await new Setup(letters).start();
    suspecting.stream.give(events('abc'), 4);
    await settled(suspecting, 4);
    expect(letters.suspected).toEqual(events('abc').flatMap((event) => [nameOf(event), null]));
    await suspecting.stop();

    const [, killer] = events('abc');
    if (killer === undefined) throw new Error('no event');
    letters.crashes = { unclean: true, inARow: 4, suspect: nameOf(killer) };
    const next = await new Setup(letters).start();
    next.stream.give(events('abcb'), 5);
    await settled(next, 5);
    expect(next.seen).toEqual(['1', '3']);
    expect(letters.waiting('b').map(({ event, reason }) => [event.id, reason])).toEqual([
      ['2', 'crash'],
      ['4', 'behind'],
    ]);
    await next.stop();
  });

  it('is not looked for after restarts in order, nor after one or two that were not', async () => {
    const letters = new FakeLetters();
    letters.crashes = { unclean: true, inARow: 2, suspect: null };
    const setup = await new Setup(letters).start();
    setup.stream.give(events('abc'), 4);
    await settled(setup, 4);
    expect(letters.suspected).toEqual([]);
    await setup.stop();
    expect(letters.endedInOrder).toBe(1);
  });
});
