import { PermanentError, type Executor, type HandlerContext, type RetryPolicy } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { parsePipelineOptions, type BatchHandler, type Handler } from '../src/config.js';
import { Dispatcher } from '../src/dispatcher.js';
import { Doubt } from '../src/doubt.js';
import { Term } from '../src/term.js';
import {
  event,
  executorFor,
  FakeStore,
  gate,
  keptLog,
  noSource,
  position,
  STEADY,
  turn,
  until,
} from './fixtures.js';

const failure = new Error('no');

interface Batched {
  readonly batch: { readonly max: number };
  readonly handle: BatchHandler;
}

class Setup {
  readonly kept = keptLog();
  readonly doubt: Doubt = new Doubt({
    log: this.kept.log,
    prove: null,
    over: () => {
      this.dispatcher.pump();
    },
  });
  readonly executor: Executor;
  readonly dispatcher: Dispatcher;
  settledCalls = 0;

  constructor(
    handle: Handler,
    options: { concurrency?: number; retry?: RetryPolicy; handlerTimeout?: number } = {},
    batch?: Batched,
  ) {
    const common = { name: 'shop', source: noSource, offsets: new FakeStore(), retry: STEADY, ...options };
    const config = parsePipelineOptions(
      batch === undefined ? { ...common, handle } : { ...common, ...batch },
    );
    this.executor = executorFor(config);
    this.dispatcher = new Dispatcher({
      handle: config.handle,
      executor: this.executor,
      config,
      term: new Term(config, this.kept.log),
      doubt: this.doubt,
      log: this.kept.log,
      settled: () => {
        this.settledCalls += 1;
      },
    });
  }

  /** One event per letter; the letter is its key, its place the number of the event. */
  admit(keys: string): this {
    for (let n = 1; n <= keys.length; n += 1) this.executor.admit(event(keys.charAt(n - 1), n));
    return this;
  }
}

/** Keeps the processor for so long, as a handler that computes would. */
function burn(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe('a handler that returns a plain value', () => {
  it.each([[undefined], [null], [7], ['text'], [{}], [{ then: 'no function' }]])(
    '%o: its event is settled when the call returns',
    (value) => {
      const setup = new Setup(() => value);
      setup.admit('ab').dispatcher.pump();
      expect(setup.executor.watermark).toBe(position(2));
      expect(setup.settledCalls).toBe(2);
    },
  );

  it('runs the events of one key in order', () => {
    const seen: string[] = [];
    const setup = new Setup(({ id }) => seen.push(id));
    setup.admit('aaaa').dispatcher.pump();
    expect(seen).toEqual(['1', '2', '3', '4']);
  });
});

describe('a handler that returns a promise', () => {
  it('is in flight until it is fulfilled; the next of its key starts only then', async () => {
    const gates = [gate(), gate()];
    const started: string[] = [];
    const setup = new Setup(({ id }) => {
      started.push(id);
      return gates[started.length - 1]?.promise;
    });
    setup.admit('aa').dispatcher.pump();
    await turn();
    expect(started).toEqual(['1']);
    expect(setup.dispatcher.runningKeys()).toEqual(['a']);
    gates[0]?.open();
    await turn();
    expect(started).toEqual(['1', '2']);
    expect(setup.executor.watermark).toBe(position(1));
    gates[1]?.open();
    await turn();
    expect(setup.executor.watermark).toBe(position(2));
    expect(setup.dispatcher.runningKeys()).toEqual([]);
  });

  it('may return anything with a then, as query builders do', async () => {
    const setup = new Setup(() => ({
      then: (fulfilled: (value: unknown) => void) => {
        setImmediate(fulfilled);
      },
    }));
    setup.admit('a').dispatcher.pump();
    expect(setup.executor.watermark).toBe(position(0));
    await turn();
    await turn();
    expect(setup.executor.watermark).toBe(position(1));
  });

  it('that settles twice, as no promise does, settles its event once and not that of the next turn', async () => {
    const callbacks: ((value: unknown) => void)[] = [];
    const setup = new Setup(() => ({
      then: (fulfilled: (value: unknown) => void) => {
        callbacks.push(fulfilled);
      },
    }));
    setup.admit('aa').dispatcher.pump();
    await turn();
    callbacks[0]?.(null);
    await turn();
    expect(callbacks).toHaveLength(2);
    callbacks[0]?.(null);
    await turn();
    expect(setup.executor.watermark).toBe(position(1));
  });

  it('whose then throws has failed', async () => {
    const setup = new Setup((_, { attempt }) =>
      attempt > 1
        ? undefined
        : {
            then: () => {
              throw failure;
            },
          },
    );
    setup.admit('a').dispatcher.pump();
    await until('it is settled by the next attempt', () => setup.executor.watermark === position(1));
    expect(setup.kept.said('trying again')).toMatchObject([{ fields: { err: { message: 'no' } } }]);
  });

  it('no more of them run at once than the concurrency allows', async () => {
    let running = 0;
    let most = 0;
    const setup = new Setup(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
      },
      { concurrency: 3 },
    );
    setup.admit('abcdefghij').dispatcher.pump();
    await setup.dispatcher.idle();
    expect(setup.executor.watermark).toBe(position(10));
    expect(most).toBe(3);
  });
});

describe('a handler that fails', () => {
  it.each<[string, () => unknown]>([
    [
      'by a throw',
      () => {
        throw failure;
      },
    ],
    ['by a rejection', () => Promise.reject(failure)],
  ])('%s is called again with the same event, and others of its key wait', async (_, fail) => {
    const calls: string[] = [];
    const setup = new Setup(({ id }, { attempt }) => {
      calls.push(`${id}/${String(attempt)}`);
      return id === '1' && attempt < 3 ? fail() : undefined;
    });
    setup.admit('aab').dispatcher.pump();
    await until('all is settled', () => setup.executor.watermark === position(3));
    expect(calls.filter((call) => !call.startsWith('3'))).toEqual(['1/1', '1/2', '1/3', '2/1']);
    expect(calls[1]).toBe('3/1');
    expect(setup.kept.said('trying again')).toMatchObject([
      { level: 'warn', fields: { key: 'a', position: position(1), attempt: 1, err: { message: 'no' } } },
      { level: 'warn', fields: { key: 'a', position: position(1), attempt: 2, err: { message: 'no' } } },
    ]);
  });

  it('for good is reported and holds its place; other keys go on', async () => {
    const setup = new Setup(({ key }) => (key === 'a' ? Promise.reject(failure) : undefined), {
      retry: { ...STEADY, attempts: 2 },
    });
    setup.admit('abba').dispatcher.pump();
    await until('it is halted', () => setup.executor.counts().halted === 1);
    expect(setup.executor.watermark).toBe(position(0));
    expect(setup.executor.completed()).toEqual([{ first: position(2), last: position(3) }]);
    expect(setup.kept.said('failed for good')).toMatchObject([
      { level: 'error', fields: { key: 'a', position: position(1), attempt: 2, err: { message: 'no' } } },
    ]);
  });

  it('many at once are woken each at its own time, the earliest first', async () => {
    const delays: Record<string, number> = { a: 5, b: 3, c: 1 };
    const again: string[] = [];
    const setup = new Setup(({ key }, { attempt }) => {
      if (attempt <= (delays[key] ?? 0)) throw failure;
      again.push(key);
    });
    setup.admit('abc').dispatcher.pump();
    await until('all is settled', () => setup.executor.watermark === position(3));
    expect(again).toEqual(['c', 'b', 'a']);
  });
});

describe('batches', () => {
  const batches = (max: number, handle: BatchHandler): Setup =>
    new Setup(() => undefined, {}, { batch: { max }, handle });

  it('hand over the next consecutive events of one key', () => {
    const seen: string[][] = [];
    const setup = batches(2, (events) => {
      seen.push(events.map(({ id }) => id));
    });
    setup.admit('aabaa').dispatcher.pump();
    expect(seen).toEqual([['1', '2'], ['3'], ['4', '5']]);
  });

  it('that fail are tried again with the same events', async () => {
    const seen: string[] = [];
    const setup = batches(3, (events, { attempt }) => {
      seen.push(events.map(({ id }) => id).join());
      if (attempt === 1) throw failure;
    });
    setup.admit('aa').dispatcher.pump();
    setup.executor.admit(event('a', 3));
    await until('all is settled', () => setup.executor.watermark === position(3));
    expect(seen).toEqual(['1,2', '1,2', '3', '3']);
  });

  it('that fail for good are tried event by event: only the one that can not be handled holds its key', async () => {
    const seen: string[] = [];
    const setup = batches(4, (events) => {
      const ids = events.map(({ id }) => id);
      seen.push(ids.join());
      if (ids.includes('3')) throw new PermanentError('not this one');
    });
    setup.admit('aaaab').dispatcher.pump();
    await until('the others are settled', () => setup.executor.settled === 3);
    await until('it has failed for good', () => setup.executor.counts().halted === 1);
    expect(seen).toEqual(['1,2,3,4', '5', '1', '2', '3']);
    expect(setup.executor.watermark).toBe(position(2));
  });
});

describe('a turn that takes too long', () => {
  const options = { concurrency: 1, handlerTimeout: 40 };

  it('has its signal aborted, its place given to another key, and is reported until it has ended', async () => {
    const slow = gate();
    const seen: string[] = [];
    let signal: AbortSignal | undefined;
    const setup = new Setup(({ id }, ctx) => {
      seen.push(id);
      if (id !== '1') return undefined;
      ({ signal } = ctx);
      return slow.promise;
    }, options);
    setup.admit('aba').dispatcher.pump();
    expect(setup.dispatcher.stuck()).toEqual([]);
    await until('b is handled', () => seen.includes('2'));
    expect(signal?.reason).toMatchObject({ code: 'HANDLER_TIMEOUT' });
    expect(setup.dispatcher.stuck()).toMatchObject([{ key: 'a', id: '1', attempt: 1 }]);
    expect(setup.dispatcher.stuck()[0]?.age).toBeGreaterThanOrEqual(40);
    expect(setup.executor.counts()).toMatchObject({ running: 0, stuck: 1 });
    slow.open();
    await until('a goes on', () => seen.includes('3'));
    expect(seen).toEqual(['1', '2', '3']);
    expect(setup.dispatcher.stuck()).toEqual([]);
    setup.dispatcher.close();
  });

  it('keeps its place when as many are stuck as may run', async () => {
    const slow = gate();
    const seen: string[] = [];
    const setup = new Setup(({ key }) => {
      seen.push(key);
      return slow.promise;
    }, options);
    setup.admit('abc').dispatcher.pump();
    await until('two are stuck', () => setup.dispatcher.stuck().length === 2);
    expect(seen).toEqual(['a', 'b']);
    expect(setup.executor.counts()).toMatchObject({ running: 1, stuck: 1 });
    slow.open();
    await until('all are handled', () => setup.executor.settled === 3);
    setup.dispatcher.close();
  });
});

describe('the event loop', () => {
  it.each<[string, () => unknown]>([
    ['plain values', () => undefined],
    ['promises that are resolved already', () => Promise.resolve()],
    ['async functions that await nothing', async () => Promise.resolve()],
  ])('has turns between handlers that return %s', async (_, result) => {
    let done = 0;
    const setup = new Setup(
      () => {
        burn(1);
        done += 1;
        return result();
      },
      { concurrency: 8 },
    );
    for (let n = 1; n <= 200; n += 1) setup.executor.admit(event(`k${String(n % 50)}`, n));
    const seenAt: number[] = [];
    const looker = setInterval(() => {
      seenAt.push(done);
    }, 1);
    setup.dispatcher.pump();
    await until('all is settled', () => setup.executor.watermark === position(200));
    clearInterval(looker);
    // Handlers burn 200 ms: a timer must come in between many times, at most some 10 ms late.
    expect(seenAt.filter((count) => count < 200).length).toBeGreaterThanOrEqual(5);
  });

  it('a slice that has ended goes on by itself', async () => {
    const setup = new Setup(() => {
      burn(1);
    });
    for (let n = 1; n <= 100; n += 1) setup.executor.admit(event('a', n));
    setup.dispatcher.pump();
    expect(setup.executor.watermark).not.toBe(position(100));
    await until('all is settled', () => setup.executor.watermark === position(100));
  });
});

describe('stopping', () => {
  it('from inside a handler: no further handler starts, what runs goes on', async () => {
    const open = gate();
    const seen: string[] = [];
    const setup = new Setup(({ id, key }) => {
      seen.push(id);
      if (key === 'b') setup.dispatcher.stopTaking();
      return key === 'a' ? open.promise : undefined;
    });
    setup.admit('abcab').dispatcher.pump();
    await turn();
    expect(seen).toEqual(['1', '2']);
    let idle = false;
    void setup.dispatcher.idle().then(() => {
      idle = true;
    });
    await turn();
    expect(idle).toBe(false);
    open.open();
    await until('it is idle', () => idle);
    expect(seen).toEqual(['1', '2']);
    expect(setup.executor.completed()).toEqual([]);
    expect(setup.executor.watermark).toBe(position(2));
  });

  it('a strand in backoff is not waited for, nor woken', async () => {
    let calls = 0;
    const setup = new Setup(() => {
      calls += 1;
      throw failure;
    });
    setup.admit('a').dispatcher.pump();
    setup.dispatcher.stopTaking();
    await setup.dispatcher.idle();
    await new Promise((resolve) => setTimeout(resolve, 3 * STEADY.initialDelay));
    expect(calls).toBe(1);
  });

  it('idle means that nothing runs and nothing can start', async () => {
    const open = gate();
    const setup = new Setup(({ key }) => (key === 'b' ? Promise.reject(failure) : open.promise), {
      retry: { ...STEADY, attempts: 1 },
    });
    await setup.dispatcher.idle();
    setup.admit('ab').dispatcher.pump();
    let idle = false;
    const becomesIdle = setup.dispatcher.idle().then(() => {
      idle = true;
    });
    await turn();
    expect(idle).toBe(false);
    open.open();
    await becomesIdle;
    expect(setup.executor.counts()).toMatchObject({ running: 0, halted: 1 });
  });
});

describe('the context of a handler', () => {
  it('has a signal that aborts with the reason, whether it was asked for before or is only then', async () => {
    const contexts: HandlerContext[] = [];
    const setup = new Setup((_, ctx) => {
      contexts.push(ctx);
      return new Promise(() => undefined);
    });
    setup.admit('ab').dispatcher.pump();
    const [early, late] = contexts;
    expect(early?.signal.aborted).toBe(false);
    let heard: unknown;
    early?.signal.addEventListener('abort', () => {
      heard = early.signal.reason;
    });
    const reason = new Error('over');
    setup.dispatcher.abort(reason);
    expect(heard).toBe(reason);
    expect(late?.signal).toMatchObject({ aborted: true, reason });
    await turn();
  });

  it('of a turn that has ended does not abort later', async () => {
    let ctx: HandlerContext | undefined;
    const setup = new Setup((_, context) => {
      ctx = context;
      return Promise.resolve();
    });
    setup.admit('a').dispatcher.pump();
    await setup.dispatcher.idle();
    setup.dispatcher.abort(new Error('over'));
    expect(ctx?.signal.aborted).toBe(false);
  });

  it('has a logger that carries key, position and attempt', () => {
    const setup = new Setup((_, { log }) => {
      log.info({ more: 1 }, 'from the handler');
    });
    setup.admit('a').dispatcher.pump();
    expect(setup.kept.said('from the handler')).toMatchObject([
      { fields: { key: 'a', position: position(1), attempt: 1, more: 1 } },
    ]);
  });

  it('has a logger that still tells of its own event when the turn has ended', async () => {
    const contexts: HandlerContext[] = [];
    const setup = new Setup((_, ctx) => contexts.push(ctx));
    setup.admit('aa').dispatcher.pump();
    await setup.dispatcher.idle();
    for (const { log } of contexts) log.info({}, 'from a promise that nobody awaited');
    expect(setup.kept.said('nobody awaited').map(({ fields }) => fields['position'])).toEqual([
      position(1),
      position(2),
    ]);
  });

  it('says whether a handler is on the stack: only up to its first await', async () => {
    const calling: boolean[] = [];
    const setup = new Setup(async () => {
      calling.push(setup.dispatcher.calling);
      await turn();
      calling.push(setup.dispatcher.calling);
    });
    setup.admit('a').dispatcher.pump();
    calling.push(setup.dispatcher.calling);
    await setup.dispatcher.idle();
    expect(calling).toEqual([true, false, false]);
  });

  it('the end of a turn is told, also when the handler threw at once: a key less waits for its turn', () => {
    const setup = new Setup(() => {
      throw failure;
    });
    setup.admit('ab').dispatcher.pump();
    expect(setup.settledCalls).toBe(2);
    setup.dispatcher.stopTaking();
  });

  it('no handler is on the stack after one has thrown', () => {
    const setup = new Setup(() => {
      throw failure;
    });
    setup.admit('a').dispatcher.pump();
    expect(setup.dispatcher.calling).toBe(false);
    setup.dispatcher.stopTaking();
  });
});
