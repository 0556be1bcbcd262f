import {
  type CommitResult,
  type HandlerContext,
  type Offset,
  type OutboxEvent,
  OwnershipLostError,
  StrandlineError,
} from '@strandline/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Handler, PipelineOptions } from '../src/config.js';
import { Run } from '../src/run.js';
import {
  event,
  FakeStore,
  gate,
  type Gate,
  keptLog,
  offsetAt,
  pipelineConfig,
  position,
  STEADY,
  turn,
  until,
} from './fixtures.js';
import { ScriptedStream } from './scripted-source.js';

const failure = new Error('no');

/** A run over a scripted stream. By default a commit follows at once, and is saved. */
class Setup {
  readonly store = new FakeStore();
  readonly kept = keptLog();
  readonly stream: ScriptedStream;
  readonly run: Run;
  readonly seen: string[] = [];
  /** Undefined while it runs, then what it ended with: null for an end without an error. */
  ended: unknown;
  readonly over: Promise<void>;

  /** @param before what happens to the stream before the run begins */
  constructor(
    handle: Handler,
    options: Partial<PipelineOptions> = {},
    offset: Offset = offsetAt(0),
    before: (stream: ScriptedStream) => void = () => undefined,
  ) {
    const config = pipelineConfig({
      offsets: this.store,
      commitInterval: 1,
      drainTimeout: 5_000,
      log: this.kept.log,
      ...options,
      batch: undefined,
      handle: (event, ctx) => {
        this.seen.push(event.id);
        return handle(event, ctx);
      },
    });
    this.stream = new ScriptedStream(offset);
    before(this.stream);
    this.run = new Run({ config, stream: this.stream, claimed: null, log: this.kept.log });
    this.over = this.run.run().then(
      () => {
        this.ended = null;
      },
      (error: unknown) => {
        this.ended = error;
      },
    );
  }

  saved(n: number): Promise<void> {
    return until(`${position(n)} is saved`, () => this.run.commits.watermark === position(n));
  }
}

function events(keys: string, first = 1, bytes = 1): OutboxEvent[] {
  return Array.from({ length: keys.length }, (_, i) => event(keys.charAt(i), first + i, bytes));
}

describe('the way of an event', () => {
  it('leads from the stream over the handler and the saved offset to the confirmed log', async () => {
    const setup = new Setup(() => undefined);
    setup.stream.give(events('abc'), 4);
    await setup.saved(4);
    expect(setup.seen).toEqual(['1', '2', '3']);
    expect(setup.stream.confirmed.at(-1)).toBe(position(4));
    setup.run.stop();
    await setup.over;
    expect(setup.ended).toBeNull();
  });

  it('the log is confirmed only up to what the store has acknowledged', async () => {
    const setup = new Setup(() => undefined);
    const answer = gate<CommitResult>();
    setup.store.answer = () => answer.promise;
    setup.stream.give(events('ab'), 3);
    await until('a commit is asked for', () => setup.store.commits.length > 0);
    await turn();
    expect(setup.run.executor.watermark).toBe(position(3));
    expect(setup.stream.confirmed).toEqual([]);
    answer.open('saved');
    await setup.saved(3);
    expect(setup.stream.confirmed).toEqual([position(3)]);
    setup.run.stop();
    await setup.over;
  });

  it('and only behind settled work: a slow event holds it, not the events behind it', async () => {
    const slow = gate();
    const setup = new Setup(({ key }) => (key === 's' ? slow.promise : undefined));
    setup.stream.give(events('asbc'), 5);
    await until('the others are saved', () => setup.store.saved?.completed.length === 1);
    expect(setup.store.last).toMatchObject({
      watermark: position(1),
      completed: [{ first: position(3), last: position(5) }],
    });
    expect(setup.stream.confirmed.at(-1)).toBe(position(1));
    slow.open();
    await setup.saved(5);
    expect(setup.store.last.completed).toEqual([]);
    setup.run.stop();
    await setup.over;
  });

  it('a transaction that is handed over in part moves the watermark to its last settled event', async () => {
    const setup = new Setup(() => undefined);
    setup.stream.give(events('ab'));
    await setup.saved(2);
    setup.stream.give([], 9);
    await setup.saved(9);
    setup.run.stop();
    await setup.over;
  });
});

describe('reading', () => {
  it('goes on though more keys fail, and fall due again, than can be handled', async () => {
    const retry = { ...STEADY, attempts: Infinity, maxElapsed: Infinity, initialDelay: 1, maxDelay: 1 };
    const setup = new Setup(
      async ({ key }) => {
        if (key === 'well') return;
        await new Promise((resolve) => setTimeout(resolve, 1));
        throw failure;
      },
      { concurrency: 4, retry },
    );
    const ill = Array.from({ length: 1_500 }, (_, i) => event(`ill ${String(i)}`, i + 1));
    setup.stream.give([...ill, event('well', 1_501)]);
    await until('the key that is well was handled', () => setup.seen.includes('1501'));
    setup.run.stop();
    await setup.over;
  });

  it.each([1, 3])('waits for what can be handled at once, however few keys: of %i', async (keys) => {
    // Handlers give way after ten milliseconds, which on a busy machine pass at any place: here they never do.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => {
      clock.mockRestore();
    });
    let most = 0;
    const setup: Setup = new Setup(() => {
      most = Math.max(most, setup.run.executor.unsettled);
      return Promise.resolve();
    });
    const size = 512;
    for (let batch = 0; batch < 15; batch += 1) {
      const first = batch * size + 1;
      setup.stream.give(Array.from({ length: size }, (_, i) => event(`k${String(i % keys)}`, first + i)));
    }
    await until('all are handled', () => setup.seen.length === 15 * size);
    // One batch that is handled, and one that was read meanwhile.
    expect(most).toBeLessThanOrEqual(2 * size);
    setup.run.stop();
    await setup.over;
  });
});

describe('after a restart', () => {
  const claimed = offsetAt(2, {
    completed: [
      { first: position(4), last: position(5) },
      { first: position(7), last: position(7) },
    ],
  });

  it('what was settled is not delivered again, and counts', async () => {
    const setup = new Setup(() => undefined, {}, claimed);
    setup.stream.give(events('abcdefgh'), 9);
    await setup.saved(9);
    expect(setup.seen).toEqual(['3', '6', '8']);
    expect(setup.stream.confirmed.every((at) => Number(at.slice(1)) > 2)).toBe(true);
    setup.run.stop();
    await setup.over;
  });

  it('the watermark does not go back when the stream starts before it', async () => {
    const setup = new Setup(() => undefined, {}, claimed);
    setup.stream.give([], 1);
    setup.stream.give(events('ab'), 2);
    await until('all is read', () => setup.stream.asked === 3);
    expect(setup.run.executor.watermark).toBe(position(2));
    expect(setup.seen).toEqual([]);
    setup.run.stop();
    await setup.over;
    expect(setup.store.commits).toEqual([]);
  });

  it('settled ranges that the stream has not passed are saved with every commit', async () => {
    const slow = gate();
    const completed = [
      { first: position(5), last: position(7) },
      { first: position(9), last: position(9) },
    ];
    const setup = new Setup(
      ({ id }) => (id === '3' ? slow.promise : undefined),
      {},
      offsetAt(2, { completed }),
    );
    setup.stream.give(events('cde', 3));
    await until('a commit', () => setup.store.commits.length > 0);
    // 4 was settled now, 5 is passed; the stream is in the middle of the first range, which is one with it.
    expect(setup.store.last.completed).toEqual([{ first: position(4), last: position(7) }, completed[1]]);
    slow.open();
    setup.run.stop();
    await setup.over;
  });
});

describe('the window', () => {
  it('admits no more events than it holds, says so, and goes on when there is room', async () => {
    const gates: Gate[] = [];
    const setup = new Setup(
      () => {
        const next = gate();
        gates.push(next);
        return next.promise;
      },
      { window: { events: 3 }, concurrency: 10 },
    );
    setup.stream.give(events('abcde'), 6);
    await until('it is paused', () => setup.run.paused === 'window');
    expect(setup.run.executor.unsettled).toBe(3);
    expect(setup.stream.asked).toBe(1);
    gates[0]?.open();
    await until('the fourth starts', () => setup.seen.length === 4);
    expect(setup.run.executor.unsettled).toBe(3);
    gates[1]?.open();
    gates[2]?.open();
    gates[3]?.open();
    await until('the fifth starts', () => setup.seen.length === 5);
    await until('it reads on', () => setup.stream.asked === 2);
    expect(setup.run.paused).toBeNull();
    gates[4]?.open();
    await setup.saved(6);
    setup.run.stop();
    await setup.over;
  });

  it('counts bytes, and lets one event pass that is larger than all of it', async () => {
    const first = gate();
    const setup = new Setup(({ id }) => (id === '1' ? first.promise : undefined), {
      window: { bytes: 100 },
    });
    setup.stream.give([...events('a', 1, 1_000), ...events('bc', 2, 60)], 4);
    await until('it is paused', () => setup.run.paused === 'window');
    expect(setup.seen).toEqual(['1']);
    first.open();
    await setup.saved(4);
    expect(setup.seen).toEqual(['1', '2', '3']);
    setup.run.stop();
    await setup.over;
  });

  it('that waits for the rest of a backoff goes on after it', async () => {
    const setup = new Setup(
      (_, { attempt }) => {
        if (attempt < 3) throw failure;
      },
      { window: { events: 1 } },
    );
    setup.stream.give(events('ab'), 3);
    await setup.saved(3);
    expect(setup.seen).toEqual(['1', '1', '1', '2', '2', '2']);
    setup.run.stop();
    await setup.over;
  });

  it('is left at once when the run is to end', async () => {
    const slow = gate();
    const setup = new Setup(() => slow.promise, { window: { events: 1 } });
    setup.stream.give(events('ab'), 3);
    await until('it is paused', () => setup.run.paused === 'window');
    setup.run.stop();
    slow.open();
    await setup.over;
    expect(setup.seen).toEqual(['1']);
    expect(setup.store.last.watermark).toBe(position(1));
  });
});

describe('keys that wait for their turn', () => {
  const many = Array.from({ length: 3_000 }, (_, i) => event(`k${String(i)}`, i + 1));

  it('are not made more than handlers can use soon, and it says so', async () => {
    const held = gate();
    const setup = new Setup(() => held.promise, { concurrency: 8, window: { events: 10_000 } });
    setup.stream.give(many, 3_001);
    await until('it is paused', () => setup.run.paused === 'handlers');
    expect(setup.run.executor.counts()).toMatchObject({ running: 8, unsettled: 1_024 });
    held.open();
    await setup.saved(3_001);
    expect(setup.run.paused).toBeNull();
    expect(setup.seen).toEqual(many.map(({ id }) => id));
    setup.run.stop();
    await setup.over;
  });

  it('are those of other keys: the followers of a slow one leave them their places', async () => {
    const slow = gate();
    const setup = new Setup(({ key }) => (key === 's' ? slow.promise : undefined), {
      window: { events: 10_000 },
    });
    setup.stream.give([...events('s'.repeat(2_000)), ...events('abc', 2_001)], 2_004);
    await until('the others are handled', () => setup.seen.length === 4);
    expect(setup.run.paused).toBeNull();
    slow.open();
    await setup.saved(2_004);
    setup.run.stop();
    await setup.over;
  });
});

describe('an offset store that is away', () => {
  it('lets the run work on up to its window, and no further; then it catches up', async () => {
    const setup = new Setup(() => undefined, { window: { events: 5 } });
    setup.store.answer = () =>
      Promise.reject(new StrandlineError('OFFSETS_UNAVAILABLE', 'Away.', 'Start it.', { transient: true }));
    setup.stream.give(events('abcdefgh'), 9);
    await until('it is paused', () => setup.run.paused === 'offsets');
    expect(setup.seen).toHaveLength(5);
    expect(setup.stream.confirmed).toEqual([]);
    expect(setup.run.commits.unsaved).toBe(5);
    setup.store.answer = () => 'saved';
    await setup.saved(9);
    expect(setup.seen).toHaveLength(8);
    setup.run.stop();
    await setup.over;
  });

  it('beyond repair ends the run with its error, and nothing more starts', async () => {
    const corrupt = new StrandlineError('OFFSETS_CORRUPT', 'Not an offset.', 'Look.');
    const slow = gate();
    const setup = new Setup(({ id }) => (id === '2' ? slow.promise : undefined), { concurrency: 1 });
    setup.store.answer = () => Promise.reject(corrupt);
    setup.stream.give(events('abc'), 4);
    await until('the run has heard of it', () => setup.store.commits.length > 0);
    await turn();
    slow.open();
    await setup.over;
    expect(setup.ended).toBe(corrupt);
    expect(setup.seen).toEqual(['1', '2']);
    expect(setup.stream.closed).toBe(1);
    expect(setup.stream.confirmed).toEqual([]);
  });
});

describe('stop', () => {
  it('lets what is in flight finish, starts nothing more, saves, and releases the log last', async () => {
    const slow = gate();
    const setup = new Setup(() => slow.promise, { concurrency: 1, commitInterval: 60_000 });
    setup.stream.give(events('ab'), 3);
    await until('one is in flight', () => setup.seen.length === 1);
    setup.store.answer = () => {
      expect(setup.stream.closed).toBe(0);
      return 'saved';
    };
    setup.run.stop();
    setup.run.stop();
    await turn();
    expect(setup.ended).toBeUndefined();
    slow.open();
    await setup.over;
    expect(setup.ended).toBeNull();
    expect(setup.seen).toEqual(['1']);
    expect(setup.store.last.watermark).toBe(position(1));
    expect(setup.stream.confirmed).toEqual([position(1)]);
    expect(setup.stream.closed).toBe(1);
  });

  it('aborts the signals of handlers that are not done in time; who heeds it is waited for', async () => {
    const setup = new Setup(
      (_, { signal }: HandlerContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        }),
      { drainTimeout: 10 },
    );
    setup.stream.give(events('a'), 2);
    await until('it is in flight', () => setup.seen.length === 1);
    setup.run.stop();
    await setup.over;
    expect(setup.ended).toBeNull();
    expect(setup.run.executor.watermark).toBe(position(0));
    expect(setup.stream.closed).toBe(1);
  });

  it('does not wait for retries that are still to come', async () => {
    const setup = new Setup(() => Promise.reject(failure), {
      retry: { initialDelay: 60_000, maxDelay: 60_000, jitter: 'none' },
    });
    setup.stream.give(events('ab'), 3);
    await until('both are in backoff', () => setup.run.executor.counts().backoff === 2);
    setup.run.stop();
    await setup.over;
    expect(setup.ended).toBeNull();
  });

  it('while nothing comes from the log ends at once', async () => {
    const setup = new Setup(() => undefined);
    await until('it reads', () => setup.stream.asked === 1);
    setup.run.stop();
    await setup.over;
    expect(setup.ended).toBeNull();
    expect(setup.stream.closed).toBe(1);
  });

  it('from inside a handler ends the run after it', async () => {
    const setup = new Setup(() => {
      expect(setup.run.insideHandler).toBe(true);
      setup.run.stop();
    });
    setup.stream.give(events('ab'), 3);
    await setup.over;
    expect(setup.seen).toEqual(['1']);
    expect(setup.store.last.watermark).toBe(position(1));
  });
});

describe('a log that fails', () => {
  it('has what came before the failure delivered and saved; then the run ends with it', async () => {
    const slow = gate();
    const setup = new Setup(({ key }) => (key === 'a' ? slow.promise : undefined), { concurrency: 1 });
    setup.stream.give(events('abab'));
    setup.stream.fail(failure);
    await until('the first is in flight', () => setup.seen.length === 1);
    slow.open();
    await setup.over;
    expect(setup.ended).toBe(failure);
    expect(setup.seen.toSorted()).toEqual(['1', '2', '3', '4']);
    expect(setup.store.last.watermark).toBe(position(4));
    expect(setup.stream.confirmed.at(-1)).toBe(position(4));
    expect(setup.stream.closed).toBe(1);
  });

  it('does not wait for a key that is halted', async () => {
    const setup = new Setup(({ key }) => (key === 'a' ? Promise.reject(failure) : undefined), {
      retry: { attempts: 1 },
    });
    setup.stream.give(events('ab'));
    setup.stream.fail(failure);
    await setup.over;
    expect(setup.ended).toBe(failure);
    expect(setup.store.last).toMatchObject({
      watermark: position(0),
      completed: [{ first: position(2), last: position(2) }],
    });
  });

  it('that ends by itself ends the run, with everything delivered', async () => {
    const setup = new Setup(() => turn());
    setup.stream.give(events('abc'), 4);
    setup.stream.end();
    await setup.over;
    expect(setup.ended).toBeNull();
    expect(setup.store.last.watermark).toBe(position(4));
  });
});

describe('the loss of ownership', () => {
  it.each<[string, (setup: Setup) => void]>([
    [
      'that the log tells',
      (setup) => {
        setup.stream.fail(new OwnershipLostError('Another one reads the slot.'));
      },
    ],
    [
      'that a commit tells',
      (setup) => {
        setup.store.answer = () => 'fenced';
        setup.stream.give(events('z', 9), 10);
      },
    ],
  ])(
    '%s: signals abort, nothing more starts or is saved, and the last handler is waited for',
    async (_, lose) => {
      const heeds = gate<HandlerContext>();
      const stubborn = gate();
      const setup = new Setup(
        ({ id }, ctx) => {
          if (id === '1') heeds.open(ctx);
          return id === '9' ? undefined : stubborn.promise;
        },
        { concurrency: 3 },
      );
      setup.stream.give(events('aba'));
      await until('two are in flight', () => setup.seen.length === 2);
      lose(setup);
      const { signal } = await heeds.promise;
      await until('the signal is aborted', () => signal.aborted);
      expect(signal.reason).toBeInstanceOf(OwnershipLostError);
      const commits = setup.store.commits.length;
      await turn();
      expect(setup.ended).toBeUndefined();
      expect(setup.stream.closed).toBe(1);
      stubborn.open();
      await setup.over;
      expect(setup.ended).toBeInstanceOf(OwnershipLostError);
      expect(setup.seen.filter((id) => id !== '9')).toEqual(['1', '2']);
      expect(setup.store.commits).toHaveLength(commits);
      expect(setup.stream.confirmed.every((at) => at === position(0))).toBe(true);
    },
  );

  it('that is in doubt starts no handler, and goes on when it is sure again', async () => {
    const slow = gate();
    const setup = new Setup(({ id }) => (id === '1' ? slow.promise : undefined), { concurrency: 2 });
    setup.stream.give([event('a', 1), event('a', 2)], 2);
    await until('the first one runs', () => setup.seen.length === 1);
    setup.stream.doubt(true);
    setup.stream.give([event('b', 3)], 3);
    slow.open();
    await until('the first one is settled', () => setup.run.executor.settled === 1);
    await until('b is admitted', () => setup.run.executor.unsettled === 2);
    await turn();
    expect(setup.seen).toEqual(['1']);
    setup.stream.doubt(false);
    await until('all is settled', () => setup.run.executor.settled === 3);
    setup.run.stop();
    await setup.over;
    expect(setup.ended).toBeNull();
  });

  it('that is in doubt when the log fails handles nothing more', async () => {
    const setup = new Setup(() => undefined);
    setup.stream.doubt(true);
    setup.stream.give([event('a', 1)], 1);
    setup.stream.fail(failure);
    await setup.over;
    expect(setup.ended).toBe(failure);
    expect(setup.seen).toEqual([]);
  });

  it('that the source tells counts at once, also while the window is full and nothing is read', async () => {
    const held = gate<HandlerContext>();
    const end = gate();
    const setup = new Setup(
      (_, ctx) => {
        held.open(ctx);
        return end.promise;
      },
      { concurrency: 1, window: { events: 2 } },
    );
    setup.stream.give(events('abc'));
    await until('the window is full', () => setup.run.paused === 'window');
    const asked = setup.stream.asked;
    setup.stream.lose(new OwnershipLostError('The lock is gone.'));
    const { signal } = await held.promise;
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(OwnershipLostError);
    end.open();
    await setup.over;
    expect(setup.ended).toBeInstanceOf(OwnershipLostError);
    expect(setup.seen, 'what was queued did not start').toEqual(['1']);
    expect(setup.stream.asked).toBe(asked);
  });

  it('that came before the run began lets nothing start', async () => {
    const setup = new Setup(
      () => undefined,
      {},
      offsetAt(0),
      (stream) => {
        stream.lose(new OwnershipLostError('The lock is gone.'));
        stream.give(events('a'));
      },
    );
    await setup.over;
    expect(setup.ended).toBeInstanceOf(OwnershipLostError);
    expect(setup.seen).toEqual([]);
  });

  it('lets nothing more start, also when what was admitted before a fault of the log is worked off', async () => {
    const held = new Map('12345'.split('').map((id) => [id, gate()]));
    const setup = new Setup(({ id }) => held.get(id)?.promise, { concurrency: 2 });
    setup.stream.give(events('abcde'));
    setup.stream.fail(failure);
    await until('two are in flight, and the fault was read', () => setup.stream.asked === 2);
    await turn();
    held.get('1')?.open();
    await until('the next one has started', () => setup.seen.length === 3);
    await setup.saved(1);
    // A commit finds a newer owner.
    setup.store.answer = () => 'fenced';
    held.get('2')?.open();
    await until('the fourth has started, before that commit', () => setup.seen.length === 4);
    await until('the commit is answered', () => setup.store.commits.at(-1)?.watermark === position(2));
    await turn();
    held.get('3')?.open();
    held.get('4')?.open();
    await setup.over;
    expect(setup.ended).toBe(failure);
    expect(setup.seen).toEqual(['1', '2', '3', '4']);
  });

  it('saves what had settled: the epoch keeps it out if somebody else has claimed the offset', async () => {
    const held = gate();
    const setup = new Setup(({ id }) => (id === '2' ? held.promise : undefined), { commitInterval: 60_000 });
    setup.stream.give(events('ab'));
    await until('both were started', () => setup.seen.length === 2);
    setup.stream.fail(new OwnershipLostError('The lock is gone.'));
    await until('it is saved', () => setup.store.commits.length === 1);
    expect(setup.store.last.watermark).toBe(position(1));
    held.open();
    await setup.over;
  });

  it('during the drain aborts the signals at once: another owner may be running these keys', async () => {
    const other = gate();
    let reason: unknown;
    const setup = new Setup(
      ({ key }, { signal }) =>
        key === 'b'
          ? other.promise
          : new Promise<void>((resolve) => {
              signal.addEventListener('abort', () => {
                reason = signal.reason;
                resolve();
              });
            }),
      { drainTimeout: 60_000 },
    );
    setup.stream.give(events('ab'));
    await until('both are in flight', () => setup.seen.length === 2);
    setup.run.stop();
    setup.store.answer = () => 'fenced';
    other.open();
    await setup.over;
    expect(reason).toBeInstanceOf(OwnershipLostError);
    expect(setup.ended).toBeNull();
  });
});
