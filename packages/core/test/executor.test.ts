import { describe, expect, it } from 'vitest';
import { InvariantError, PermanentError } from '../src/errors.js';
import { Executor, type ExecutorOptions } from '../src/executor.js';
import type { Strand } from '../src/strand.js';
import { event, executorOptions, position, STEADY } from './fixtures.js';

const failure = new Error('the handler failed');

/** An executor that has admitted one event per letter: `aab` is two of key a, then one of key b. */
function admitted(keys: string, overrides: Partial<ExecutorOptions> = {}): Executor {
  const executor = new Executor(executorOptions(overrides));
  Array.from(keys).forEach((key, n) => {
    executor.admit(event(key, n));
  });
  return executor;
}

function takeOne(executor: Executor): Strand {
  const strand = executor.take();
  if (strand === null) throw new Error('the executor had nothing to take');
  return strand;
}

function takeAll(executor: Executor): Strand[] {
  const taken: Strand[] = [];
  for (let strand = executor.take(); strand !== null; strand = executor.take()) taken.push(strand);
  return taken;
}

/** Takes one turn after the other, each with success, until there is none. Returns the key and the ids of each. */
function runAll(executor: Executor): { keys: string; ids: string[][] } {
  const keys: string[] = [];
  const ids: string[][] = [];
  for (let strand = executor.take(); strand !== null; strand = executor.take()) {
    keys.push(strand.key);
    ids.push(idsOf(strand));
    if (ids.length > 1_000) throw new Error('the turns never come to an end');
    executor.succeed(strand);
  }
  return { keys: keys.join(''), ids };
}

function keysOf(strands: readonly Strand[]): string {
  return strands.map(({ key }) => key).join('');
}

function idsOf(strand: Strand): string[] {
  return strand.inFlightEvents().map(({ id }) => id);
}

describe('per-key order', () => {
  it('hands out the events of one key in the order they were admitted', () => {
    const executor = admitted('aaa');
    expect(runAll(executor).ids).toEqual([['0'], ['1'], ['2']]);
  });

  it('has one event of a key in flight, whatever the concurrency', () => {
    const executor = admitted('aaa', { concurrency: 100 });
    expect(takeAll(executor).map(idsOf)).toEqual([['0']]);
    executor.admit(event('a', 3));
    expect(executor.take()).toBeNull();
  });

  it('starts the next event of a key only once the previous one has settled', () => {
    const executor = admitted('aa');
    const strand = takeOne(executor);
    expect(executor.take()).toBeNull();
    executor.succeed(strand);
    expect(idsOf(takeOne(executor))).toEqual(['1']);
  });

  it('keeps a failed head at the head', () => {
    const executor = admitted('aa');
    executor.fail(takeOne(executor), failure, 0);
    executor.admit(event('a', 2));
    expect(executor.take()).toBeNull();
    executor.wake(100);
    const again = takeOne(executor);
    expect(idsOf(again)).toEqual(['0']);
    executor.succeed(again);
    expect(idsOf(takeOne(executor))).toEqual(['1']);
  });

  it('starts a key afresh that comes back after its strand was empty', () => {
    const executor = admitted('a');
    const strand = takeOne(executor);
    executor.succeed(strand);
    expect(executor.counts().strands).toBe(0);
    executor.admit(event('a', 1));
    const next = takeOne(executor);
    expect(next).not.toBe(strand);
    expect([idsOf(next), next.attempt]).toEqual([['1'], 1]);
  });

  it('keeps keys apart that are names of object members', () => {
    const keys = ['__proto__', 'constructor', 'toString', ''];
    const executor = new Executor(executorOptions());
    keys.forEach((key, n) => {
      executor.admit(event(key, n));
    });
    expect(takeAll(executor).map(({ key }) => key)).toEqual(keys);
  });
});

describe('parallelism and isolation', () => {
  it('runs different keys at once, up to the concurrency', () => {
    const executor = admitted('abcd', { concurrency: 3 });
    const taken = takeAll(executor) as [Strand, Strand, Strand];
    expect(keysOf(taken)).toBe('abc');
    expect([executor.running, executor.ready]).toEqual([3, 1]);
    executor.succeed(taken[1]);
    expect(keysOf(takeAll(executor))).toBe('d');
    expect([executor.running, executor.ready]).toEqual([3, 0]);
  });

  it('gives a hot key one turn at a time: those that wait come first', () => {
    const executor = admitted('aaaaaabc', { concurrency: 1 });
    expect(runAll(executor).keys).toBe('abcaaaaa');
  });

  it('serves ready strands first come first served, a new key and one that is done with its turn alike', () => {
    const executor = admitted('aab', { concurrency: 1 });
    const first = takeOne(executor);
    executor.admit(event('c', 3));
    executor.succeed(first);
    executor.admit(event('d', 4));
    expect(runAll(executor).keys).toBe('bcad');
  });

  it('spends no concurrency on a strand in backoff', () => {
    const executor = admitted('aab', { concurrency: 1 });
    executor.fail(takeOne(executor), failure, 0);
    expect(executor.running).toBe(0);
    expect(keysOf(takeAll(executor))).toBe('b');
  });

  it('spends no concurrency on a halted strand', () => {
    const executor = admitted('aab', { concurrency: 1 });
    executor.fail(takeOne(executor), new PermanentError('never'), 0);
    expect(keysOf(takeAll(executor))).toBe('b');
  });

  it('queues a strand whose backoff is over behind those that are ready', () => {
    const executor = admitted('abc', { concurrency: 1 });
    executor.fail(takeOne(executor), failure, 0);
    executor.wake(100);
    expect(runAll(executor).keys).toBe('bca');
  });
});

describe('batch', () => {
  it('takes the next consecutive events of one key, as many as there are up to its limit', () => {
    const executor = admitted('abaabaa', { batch: 3 });
    const [a, b] = takeAll(executor) as [Strand, Strand];
    expect([idsOf(a), idsOf(b)]).toEqual([
      ['0', '2', '3'],
      ['1', '4'],
    ]);
    executor.succeed(a);
    expect(idsOf(takeOne(executor))).toEqual(['5', '6']);
  });

  it('that is tried event by event leaves its failures behind: each event counts its own', () => {
    const executor = admitted('aa', { batch: 2 });
    const strand = takeOne(executor);
    executor.fail(strand, new PermanentError('one of two'), 0);
    expect(executor.narrow(strand)).toBe(true);
    expect(strand.failureHistory).toEqual([]);
    executor.fail(takeOne(executor), failure, 5);
    expect(strand.failureHistory).toMatchObject([{ first: 1, last: 1, firstFailedAt: 5 }]);
  });

  it('is not joined by events that arrive while it is in flight', () => {
    const executor = admitted('a', { batch: 3 });
    const strand = takeOne(executor);
    executor.admit(event('a', 1));
    expect(idsOf(strand)).toEqual(['0']);
    executor.succeed(strand);
    expect(executor.unsettled).toBe(1);
    expect(idsOf(takeOne(executor))).toEqual(['1']);
  });

  it('is tried again with the same events, though more have arrived since it failed', () => {
    const executor = admitted('aa', { batch: 10 });
    executor.fail(takeOne(executor), failure, 0);
    executor.admit(event('a', 2));
    executor.wake(100);
    const again = takeOne(executor);
    expect(idsOf(again)).toEqual(['0', '1']);
    executor.succeed(again);
    expect(idsOf(takeOne(executor))).toEqual(['2']);
  });

  it('settles all of its events or none', () => {
    const executor = admitted('aaab', { batch: 3 });
    const [a, b] = takeAll(executor) as [Strand, Strand];
    executor.fail(a, failure, 0);
    executor.succeed(b);
    expect(executor.counts()).toMatchObject({ unsettled: 3, settled: 1 });
    expect(executor.watermark).toBe('start');
    executor.wake(100);
    executor.succeed(takeOne(executor));
    expect(executor.counts()).toMatchObject({ unsettled: 0, settled: 4 });
    expect(executor.watermark).toBe(position(3));
  });
});

describe('retries', () => {
  it('answers a failure with the time of the next attempt, on the clock it was given', () => {
    const executor = admitted('a');
    const due: number[] = [];
    let now = 1_000_000;
    for (let i = 0; i < 5; i += 1) {
      const decision = executor.fail(takeOne(executor), failure, now);
      if (decision.outcome !== 'retry') throw new Error('halted');
      due.push(decision.dueAt - now);
      now = decision.dueAt;
      executor.wake(now);
    }
    expect(due).toEqual([100, 200, 400, 800, 1_000]);
  });

  it('does not try a head again before its time, and does when it has come', () => {
    const executor = admitted('a');
    executor.fail(takeOne(executor), failure, 50);
    expect(executor.wake(149)).toBe(150);
    expect(executor.take()).toBeNull();
    expect(executor.wake(150)).toBeNull();
    expect(takeOne(executor).attempt).toBe(2);
  });

  it('says when to wake it next: the earliest time of all strands in backoff', () => {
    const executor = admitted('abc');
    const [a, b, c] = takeAll(executor) as [Strand, Strand, Strand];
    executor.fail(a, failure, 300);
    executor.fail(b, failure, 100);
    executor.fail(c, failure, 200);
    expect(executor.wake(0)).toBe(200);
    expect(executor.wake(200)).toBe(300);
    expect(executor.wake(1_000)).toBeNull();
    expect(keysOf(takeAll(executor))).toBe('bca');
  });

  it('calls the handler exactly `attempts` times, and then gives up', () => {
    const executor = admitted('a', { retry: { ...STEADY, attempts: 4 } });
    const outcomes: string[] = [];
    for (let now = 0, strand = executor.take(); strand !== null && now < 1e6; strand = executor.take()) {
      outcomes.push(executor.fail(strand, failure, now).outcome);
      now += 10_000;
      executor.wake(now);
    }
    expect(outcomes).toEqual(['retry', 'retry', 'retry', 'exhausted']);
  });

  it.each([
    { at: 1_999, outcome: 'retry' },
    { at: 2_000, outcome: 'exhausted' },
  ])(
    'counts maxElapsed from the first failure: $at ms after it the decision is to $outcome',
    ({ at, outcome }) => {
      const executor = admitted('a', { retry: { ...STEADY, maxElapsed: 2_000 } });
      const start = 70_000;
      executor.fail(takeOne(executor), failure, start);
      executor.wake(start + at);
      expect(executor.fail(takeOne(executor), failure, start + at).outcome).toBe(outcome);
    },
  );

  it('counts attempts and time afresh for the next head', () => {
    const executor = admitted('aa', { retry: { ...STEADY, attempts: 2, maxElapsed: 2_000 } });
    executor.fail(takeOne(executor), failure, 0);
    executor.wake(100);
    executor.succeed(takeOne(executor));
    const next = takeOne(executor);
    expect([next.attempt, next.lastError]).toEqual([1, undefined]);
    expect(executor.fail(next, failure, 10_000)).toEqual({ outcome: 'retry', dueAt: 10_100 });
  });

  it('draws one lot per failure for the jitter', () => {
    const lots = [0, 0.25, 0.75];
    const retry = { ...STEADY, jitter: 'full' as const };
    const executor = admitted('abc', { retry, random: () => lots.shift() ?? NaN });
    const due = takeAll(executor).map((strand) => executor.fail(strand, failure, 0));
    expect(due).toEqual([0, 25, 75].map((dueAt) => ({ outcome: 'retry', dueAt })));
  });

  it('keeps what the head failed with, for status', () => {
    const executor = admitted('a');
    const strand = takeOne(executor);
    executor.fail(strand, failure, 7);
    expect([strand.state, strand.attempt, strand.firstFailedAt, strand.dueAt]).toEqual([
      'backoff',
      1,
      7,
      107,
    ]);
    expect(strand.lastError).toBe(failure);
  });
});

describe('halt', () => {
  it('comes at once with a PermanentError, whatever retries are left', () => {
    const executor = admitted('a');
    expect(executor.fail(takeOne(executor), new PermanentError('never'), 0)).toEqual({
      outcome: 'exhausted',
    });
    expect(executor.wake(Number.MAX_VALUE)).toBeNull();
    expect(executor.take()).toBeNull();
  });

  it('pins the watermark before the halted head while the other keys go on', () => {
    const executor = admitted('xabab');
    const [x, a, b] = takeAll(executor) as [Strand, Strand, Strand];
    executor.succeed(b);
    executor.succeed(x);
    executor.fail(a, new PermanentError('never'), 0);
    executor.halt(a);
    executor.succeed(takeOne(executor));
    executor.admit(event('c', 5));
    executor.admit(event('a', 6));
    executor.admit(event('b', 7));
    for (const strand of takeAll(executor)) executor.succeed(strand);
    expect(executor.watermark).toBe(position(0));
    expect(executor.completed()).toEqual([
      { first: position(2), last: position(2) },
      { first: position(4), last: position(5) },
      { first: position(7), last: position(7) },
    ]);
    expect(executor.counts()).toMatchObject({ halted: 1, strands: 1, running: 0, unsettled: 3 });
  });
});

describe('the watermark of the executor', () => {
  it('does not move with what is admitted, running or in backoff', () => {
    const executor = admitted('ab');
    const [a] = takeAll(executor) as [Strand, Strand];
    executor.fail(a, failure, 0);
    expect(executor.watermark).toBe('start');
    expect(executor.completed()).toEqual([]);
  });

  it('moves over work that finishes out of order once the oldest has settled', () => {
    const executor = admitted('abc');
    const [a, b, c] = takeAll(executor) as [Strand, Strand, Strand];
    executor.succeed(c);
    executor.succeed(b);
    expect(executor.watermark).toBe('start');
    expect(executor.completed()).toEqual([{ first: position(1), last: position(2) }]);
    executor.succeed(a);
    expect(executor.watermark).toBe(position(2));
    expect(executor.completed()).toEqual([]);
  });

  it('moves with an idle source that passes on, and not over an event that waits', () => {
    const executor = new Executor(executorOptions());
    executor.pass('idle');
    expect(executor.watermark).toBe('idle');
    executor.admit(event('a', 0));
    executor.pass('commit');
    expect(executor.watermark).toBe('idle');
    executor.succeed(takeOne(executor));
    expect(executor.watermark).toBe('commit');
  });
});

describe('counts', () => {
  it('say what is where, at every step of an event', () => {
    const executor = new Executor(executorOptions({ concurrency: 2, retry: { ...STEADY, attempts: 2 } }));
    const base = {
      ...{ unsettled: 0, bytes: 0, strands: 0, running: 0, stuck: 0 },
      ...{ backoff: 0, exhausted: 0, halted: 0, held: 0, parked: 0, settled: 0 },
    };
    expect(executor.counts()).toEqual(base);
    executor.admit(event('a', 0, 10));
    executor.admit(event('a', 1, 20));
    executor.admit(event('b', 2, 40));
    expect(executor.counts()).toEqual({ ...base, unsettled: 3, bytes: 70, strands: 2 });
    const [a, b] = takeAll(executor) as [Strand, Strand];
    expect(executor.counts()).toEqual({ ...base, unsettled: 3, bytes: 70, strands: 2, running: 2 });
    executor.succeed(a);
    expect(executor.counts()).toEqual({
      ...base,
      unsettled: 2,
      bytes: 60,
      strands: 2,
      running: 1,
      settled: 1,
    });
    executor.fail(b, failure, 0);
    expect(executor.counts()).toEqual({
      ...base,
      unsettled: 2,
      bytes: 60,
      strands: 2,
      backoff: 1,
      settled: 1,
    });
    executor.wake(100);
    expect(executor.counts()).toEqual({ ...base, unsettled: 2, bytes: 60, strands: 2, settled: 1 });
    const [again, retried] = takeAll(executor) as [Strand, Strand];
    executor.fail(retried, failure, 100);
    executor.succeed(again);
    const last = { ...base, unsettled: 1, bytes: 40, strands: 1, settled: 2 };
    expect(executor.counts()).toEqual({ ...last, exhausted: 1 });
    executor.halt(retried);
    expect(executor.counts()).toEqual({ ...last, halted: 1 });
  });

  it('keep no strand of a key without work', () => {
    const executor = new Executor(executorOptions({ concurrency: 1 }));
    for (let n = 0; n < 1_000; n += 1) {
      executor.admit(event(`key ${String(n)}`, n));
      executor.succeed(takeOne(executor));
    }
    expect([...executor.strands()]).toEqual([]);
  });

  it('list the live strands with their states', () => {
    const executor = admitted('abcd', { concurrency: 3 });
    const [, b, c] = takeAll(executor) as [Strand, Strand, Strand];
    executor.fail(b, failure, 0);
    executor.fail(c, new PermanentError('never'), 0);
    const states = [...executor.strands()].map(({ key, state }) => `${key} ${state}`);
    expect(states).toEqual(['a running', 'b backoff', 'c exhausted', 'd ready']);
  });
});

describe('a broken invariant of the executor', () => {
  it('crashes when a turn ends twice, however it ended', () => {
    const ends: ((executor: Executor, strand: Strand) => void)[] = [
      (executor, strand) => {
        executor.succeed(strand);
      },
      (executor, strand) => executor.fail(strand, failure, 0),
      (executor, strand) => executor.fail(strand, new PermanentError('never'), 0),
    ];
    for (const first of ends) {
      for (const second of ends) {
        const executor = admitted('aa');
        const strand = takeOne(executor);
        first(executor, strand);
        const before = executor.counts();
        expect(() => {
          second(executor, strand);
        }).toThrow(InvariantError);
        expect(executor.counts()).toEqual(before);
      }
    }
  });

  it.each([{ concurrency: 0 }, { concurrency: NaN }, { batch: 0 }, { batch: NaN }])(
    'crashes when it is built so that nothing could ever settle: %o',
    (overrides) => {
      expect(() => new Executor(executorOptions(overrides))).toThrow(InvariantError);
    },
  );
});
