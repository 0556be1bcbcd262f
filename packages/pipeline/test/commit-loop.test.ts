import { StrandlineError, type CommitResult, type Executor, type PositionRange } from '@strandline/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CommitLoop } from '../src/commit-loop.js';
import {
  event,
  executorFor,
  FakeStore,
  gate,
  keptLog,
  offsetAt,
  pipelineConfig,
  position,
} from './fixtures.js';

const INTERVAL = 100;
const WINDOW = 10;

function unavailable(): StrandlineError {
  return new StrandlineError('OFFSETS_UNAVAILABLE', 'Redis is away.', 'Start it.', { transient: true });
}

/** A commit loop over a store whose answers the test gives, at revision 40 of epoch 3. */
class Setup {
  readonly store = new FakeStore();
  readonly kept = keptLog();
  readonly executor: Executor;
  readonly loop: CommitLoop;
  readonly saved: string[] = [];
  readonly failures: unknown[] = [];
  fenced = 0;
  remaining: PositionRange[] = [];
  identity: Record<string, string> = { system: '7301' };
  #admitted = 0;

  constructor() {
    const config = pipelineConfig({
      offsets: this.store,
      commitInterval: INTERVAL,
      window: { events: WINDOW },
      concurrency: 100,
    });
    this.executor = executorFor(config);
    this.loop = new CommitLoop({
      config,
      executor: this.executor,
      offset: offsetAt(0),
      identity: () => this.identity,
      completed: () => [...this.executor.completed(), ...this.remaining],
      settledBefore: () => null,
      log: this.kept.log,
      saved: (watermark) => {
        this.saved.push(watermark);
      },
      failed: (error) => {
        this.failures.push(error);
      },
      fenced: () => {
        this.fenced += 1;
      },
    });
    this.loop.start();
  }

  /** Admits so many events of keys of their own and settles them. */
  settle(count: number): void {
    for (let i = 0; i < count; i += 1) {
      this.#admitted += 1;
      this.executor.admit(event(`k${String(this.#admitted)}`, this.#admitted));
      const strand = this.executor.take();
      if (strand === null) throw new Error('no turn');
      this.executor.succeed(strand);
    }
  }

  get watermarks(): string[] {
    return this.store.commits.map(({ watermark }) => watermark);
  }
}

const intervals = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * INTERVAL);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an offset that moves', () => {
  it('is saved at the next interval, and not before', async () => {
    const setup = new Setup();
    setup.settle(2);
    await vi.advanceTimersByTimeAsync(INTERVAL - 1);
    expect(setup.store.commits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(setup.store.commits).toEqual([
      {
        identity: { system: '7301' },
        watermark: position(2),
        completed: [],
        epoch: 3,
        revision: 41,
        savedAt: new Date().toISOString(),
      },
    ]);
    expect(setup.saved).toEqual([position(2)]);
    expect(setup.loop.watermark).toBe(position(2));
    expect(setup.loop.unsaved).toBe(0);
  });

  it('that stands still is not saved again', async () => {
    const setup = new Setup();
    await intervals(5);
    setup.settle(1);
    await intervals(5);
    expect(setup.watermarks).toEqual([position(1)]);
  });

  it('is saved again when only the completed set grows: the crash that follows must not deliver it again', async () => {
    const setup = new Setup();
    setup.executor.admit(event('slow', 1_000));
    const slow = setup.executor.take();
    setup.settle(1);
    await intervals(1);
    setup.settle(1);
    await intervals(1);
    expect(setup.watermarks).toEqual([position(0), position(0)]);
    expect(setup.store.last.completed).toEqual([{ first: position(1), last: position(2) }]);
    if (slow !== null) setup.executor.succeed(slow);
  });

  it('takes with it what an earlier owner had settled and the stream has not passed', async () => {
    const setup = new Setup();
    setup.remaining = [{ first: position(70), last: position(75) }];
    setup.settle(1);
    await intervals(1);
    expect(setup.store.last.completed).toEqual(setup.remaining);
  });

  it('carries what the log is now, not what it was at the claim', async () => {
    const setup = new Setup();
    setup.identity = { system: '7301', timeline: '2' };
    setup.settle(1);
    await intervals(1);
    expect(setup.store.last.identity).toEqual({ system: '7301', timeline: '2' });
  });
});

describe('one commit at a time', () => {
  it('the next waits for the answer, and then saves all that has settled since', async () => {
    const setup = new Setup();
    const answer = gate<CommitResult>();
    setup.store.answer = () => answer.promise;
    setup.settle(1);
    await intervals(1);
    setup.settle(3);
    await intervals(10);
    expect(setup.watermarks).toEqual([position(1)]);
    setup.store.answer = () => 'saved';
    answer.open('saved');
    await intervals(1);
    expect(setup.watermarks).toEqual([position(1), position(4)]);
    expect(setup.store.commits.map(({ revision }) => revision)).toEqual([41, 42]);
    expect(setup.store.mostAtOnce).toBe(1);
  });

  it('confirms what was asked to be saved, not what has settled meanwhile', async () => {
    const setup = new Setup();
    const answer = gate<CommitResult>();
    setup.store.answer = () => answer.promise;
    setup.settle(1);
    await intervals(1);
    setup.settle(2);
    expect(setup.saved).toEqual([]);
    answer.open('saved');
    await vi.advanceTimersByTimeAsync(0);
    expect(setup.saved).toEqual([position(1)]);
    expect(setup.loop.unsaved).toBe(2);
  });
});

describe('hurry', () => {
  it('saves at once when half of the window is settled and unsaved', async () => {
    const setup = new Setup();
    setup.settle(WINDOW / 2 - 1);
    setup.loop.hurry();
    expect(setup.store.commits).toEqual([]);
    setup.settle(1);
    setup.loop.hurry();
    await vi.advanceTimersByTimeAsync(0);
    expect(setup.watermarks).toEqual([position(WINDOW / 2)]);
  });

  it('does not add a second commit to one under way', async () => {
    const setup = new Setup();
    const answer = gate<CommitResult>();
    setup.store.answer = () => answer.promise;
    setup.settle(WINDOW);
    setup.loop.hurry();
    setup.settle(WINDOW);
    setup.loop.hurry();
    setup.loop.hurry();
    await intervals(2);
    expect(setup.store.commits).toHaveLength(1);
    answer.open('saved');
    await vi.advanceTimersByTimeAsync(0);
    expect(setup.store.mostAtOnce).toBe(1);
  });

  it('does not hammer a store that is away, and does nothing once the loop has stopped', async () => {
    const setup = new Setup();
    setup.store.answer = () => Promise.reject(unavailable());
    setup.settle(WINDOW);
    await intervals(1);
    expect(setup.store.commits).toHaveLength(1);
    for (let i = 0; i < 5; i += 1) setup.loop.hurry();
    await vi.advanceTimersByTimeAsync(0);
    expect(setup.store.commits).toHaveLength(1);
    setup.store.answer = () => 'saved';
    await intervals(1);
    await setup.loop.finish();
    setup.settle(WINDOW);
    setup.loop.hurry();
    await vi.advanceTimersByTimeAsync(0);
    expect(setup.store.commits).toHaveLength(2);
  });
});

describe('a store that is away', () => {
  it('is asked again at each interval; nothing counts as saved meanwhile, and it is said once', async () => {
    const setup = new Setup();
    setup.store.answer = () => Promise.reject(unavailable());
    setup.settle(3);
    await intervals(4);
    expect(setup.store.commits.length).toBeGreaterThanOrEqual(4);
    expect(setup.loop.available).toBe(false);
    expect(setup.loop.unsaved).toBe(3);
    expect(setup.loop.watermark).toBe(position(0));
    expect(setup.saved).toEqual([]);
    expect(setup.failures).toEqual([]);
    expect(setup.kept.said('can not be saved')).toHaveLength(1);
  });

  it('that comes back gets everything, under a newer revision than any it may have seen', async () => {
    const setup = new Setup();
    setup.store.answer = () => Promise.reject(unavailable());
    setup.settle(3);
    await intervals(3);
    const tried = setup.store.last.revision;
    setup.settle(1);
    setup.store.answer = () => 'saved';
    await intervals(1);
    expect(setup.store.last).toMatchObject({ watermark: position(4), revision: tried + 1 });
    expect(setup.saved).toEqual([position(4)]);
    expect(setup.loop.available).toBe(true);
    expect(setup.kept.said('is back')).toHaveLength(1);
  });

  it('and goes away again is reported again', async () => {
    const setup = new Setup();
    for (const [away, n] of [
      [true, 1],
      [false, 1],
      [true, 1],
    ] as const) {
      setup.store.answer = () => (away ? Promise.reject(unavailable()) : 'saved');
      setup.settle(n);
      await intervals(2);
    }
    expect(setup.kept.said('can not be saved')).toHaveLength(2);
  });
});

describe('other answers', () => {
  it('fenced: nothing is confirmed, and the run is told', async () => {
    const setup = new Setup();
    setup.store.answer = () => 'fenced';
    setup.settle(1);
    await intervals(1);
    expect(setup.fenced).toBe(1);
    expect(setup.saved).toEqual([]);
    expect(setup.loop.watermark).toBe(position(0));
  });

  it('stale: nothing is confirmed, and the next commit tries with a newer revision', async () => {
    const setup = new Setup();
    setup.store.answer = () => 'stale';
    setup.settle(1);
    await intervals(1);
    expect(setup.saved).toEqual([]);
    setup.store.answer = () => 'saved';
    await intervals(1);
    expect(setup.store.commits.map(({ revision }) => revision)).toEqual([41, 42]);
    expect(setup.saved).toEqual([position(1)]);
  });

  it('restored: it is saved, and a warning says that the store had lost it', async () => {
    const setup = new Setup();
    setup.store.answer = () => 'restored';
    setup.settle(1);
    await intervals(1);
    expect(setup.saved).toEqual([position(1)]);
    expect(setup.kept.said('had lost the offset')).toMatchObject([{ level: 'warn' }]);
  });

  it.each([
    ['what it holds can not be read', new StrandlineError('OFFSETS_CORRUPT', 'Not an offset.', 'Look.')],
    ['it broke in a way of its own', new TypeError('x is not a function')],
    ['it threw something that is no error', 'odd'],
  ])('%s: the run fails with that', async (_, error) => {
    const setup = new Setup();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is what is tested
    setup.store.answer = () => Promise.reject(error);
    setup.settle(1);
    await intervals(1);
    expect(setup.failures).toEqual([error]);
    expect(setup.saved).toEqual([]);
  });
});

describe('the end', () => {
  it('saves what is left, and leaves no timer', async () => {
    const setup = new Setup();
    setup.settle(2);
    await setup.loop.finish();
    expect(setup.watermarks).toEqual([position(2)]);
    expect(vi.getTimerCount()).toBe(0);
    await intervals(3);
    expect(setup.store.commits).toHaveLength(1);
  });

  it('waits for the commit under way and saves what came after it', async () => {
    const setup = new Setup();
    const answer = gate<CommitResult>();
    setup.store.answer = () => answer.promise;
    setup.settle(1);
    await intervals(1);
    setup.settle(1);
    setup.store.answer = () => 'saved';
    const finished = setup.loop.finish();
    await vi.advanceTimersByTimeAsync(0);
    expect(setup.store.commits).toHaveLength(1);
    answer.open('saved');
    await finished;
    expect(setup.watermarks).toEqual([position(1), position(2)]);
    expect(setup.store.mostAtOnce).toBe(1);
    expect(setup.saved).toEqual([position(1), position(2)]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('comes also when the store is away', async () => {
    const setup = new Setup();
    setup.store.answer = () => Promise.reject(unavailable());
    setup.settle(1);
    await setup.loop.finish();
    expect(setup.saved).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
