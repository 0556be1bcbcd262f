import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseKinds,
  faultless,
  PipelineRuns,
  rowsInTurn,
  rowsOf,
  TcpProxy,
  testOutbox,
  waitUntil,
  watchFor,
} from '@strandline/test-kit';
import { OwnershipLostError, type HandlerContext, type OutboxEvent, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { Pipelines } from './pipelines.js';

/** A standby takes over within this time: ARCHITECTURE.md promises it. */
const TAKE_OVER = 2_000;

/** What one process of several did: which handlers run now, and whether ever two of a key ran at once. */
class Process {
  readonly started: string[] = [];
  readonly signals = new Map<string, AbortSignal>();
  readonly overlaps: string[] = [];
  readonly #running = new Set<string>();
  readonly #releases = new Map<string, () => void>();

  /** @param held keys whose handlers run until they are released, whatever their signal says */
  constructor(readonly held: readonly string[] = []) {}

  readonly handle = async (event: OutboxEvent, ctx: HandlerContext): Promise<void> => {
    if (this.#running.has(event.key)) this.overlaps.push(event.key);
    this.#running.add(event.key);
    this.started.push(event.id);
    // Asked for now, as by a handler that passes it on: that one must abort later.
    this.signals.set(event.id, ctx.signal);
    if (this.held.includes(event.key))
      await new Promise<void>((resolve) => {
        this.#releases.set(event.key, resolve);
      });
    this.#running.delete(event.key);
  };

  release(key: string): void {
    this.#releases.get(key)?.();
  }
}

function runs(pipeline: Pipeline): () => boolean {
  return () => pipeline.status().state === 'running';
}

describe.each(databaseKinds)('%s: a standby takes over', (kind) => {
  test('within two seconds of kill -9, and loses nothing', async () => {
    await using outbox = await testOutbox(kind);
    const witness = await outbox.witness();
    await using pipelines = await PipelineRuns.prepare(outbox, {
      name: 'take-over',
      behaviour: { delay: 2, jitter: true },
    });
    const owner = await pipelines.start();
    const standby = await pipelines.start();
    await standby.untilStatus('it stands by', ({ state }) => state === 'standby');
    const { history } = pipelines;
    await outbox.insert(rowsInTurn(500, 20));
    await history.until('the owner is at work', () => history.succeeded.size >= 100);
    expect(history.ids('started', 2), 'and it alone').toEqual([]);

    await owner.kill();
    const killed = Date.now();
    await outbox.insert(rowsInTurn(100, 20));
    await history.untilSucceeded(600);
    const takenOver = history.entries.find(({ run }) => run === 2);
    expect((takenOver?.at ?? Infinity) - killed).toBeLessThan(TAKE_OVER);
    expect(outbox.check(await witness.events(), history)).toMatchObject(faultless);
    expect(await standby.stop()).toEqual({ code: 0, signal: null });
  });

  test('after a stop, at once, and nothing is handled twice', async () => {
    await using outbox = await testOutbox(kind);
    await using pipelines = new Pipelines(outbox, 'app');
    const handled: string[] = [];
    const handle = ({ id }: OutboxEvent): unknown => handled.push(id);
    const [first, second] = [await pipelines.start(handle), await pipelines.start(handle)];
    expect(second.status().state).toBe('standby');
    const ids = await outbox.insert(rowsInTurn(50, 5));
    await waitUntil('all is handled', () => handled.length === 50);
    await first.stop();
    const stopped = Date.now();
    ids.push(...(await outbox.insert(rowsInTurn(50, 5))));
    await waitUntil('the second runs', runs(second));
    expect(Date.now() - stopped).toBeLessThan(TAKE_OVER);
    await waitUntil('all is handled', () => handled.length >= 100);
    await second.stop();
    expect(handled.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect(pipelines.storage.get('app')?.epoch).toBe(2);
  });
});

describe.each(databaseKinds)('%s: a former owner that stood still while its place was taken', (kind) => {
  test('starts no handler when it goes on, whatever its timers and handlers wake up to', async () => {
    await using outbox = await testOutbox(kind);
    await using pipelines = await PipelineRuns.prepare(outbox, {
      name: 'stopped',
      tuning: { concurrency: 4, retry: { initialDelay: 5, maxDelay: 50, attempts: 1_000 } },
      behaviour: { delay: 10, failRate: 0.1 },
    });
    const owner = await pipelines.start();
    const standby = await pipelines.start();
    const { history } = pipelines;
    await outbox.insert(rowsInTurn(200, 20));
    await history.until('the owner is at work', () => history.succeeded.size >= 50);

    owner.signal('SIGSTOP');
    await outbox.sessionsOf('stopped').end('owner');
    await history.untilSucceeded(200);
    // It may have stood still for less than it would notice by its clock, if the other one was that quick.
    await sleep(1_500);
    const wentOn = Date.now();
    owner.signal('SIGCONT');
    await owner.untilStatus('it stands by', ({ state }) => state === 'standby');
    const late = history
      .refresh()
      .entries.filter(({ run, what, at }) => run === owner.run && what === 'started' && at >= wentOn);
    expect(late.map(({ key, ids }) => `${key}: ${ids.join()}`)).toEqual([]);
    await owner.stop();
    await standby.stop();
  });
});

describe.each(databaseKinds)(
  '%s: a former owner whose session was ended, and whose place was taken',
  (kind) => {
    test('hands nothing more out, tells its handlers, and stands by once the last of them has ended', async () => {
      await using outbox = await testOutbox(kind);
      await using proxy = await TcpProxy.start(outbox.url);
      await using pipelines = new Pipelines(outbox, 'app');
      const sessions = outbox.sessionsOf('app');
      const [a, b] = [new Process(['stubborn']), new Process()];
      const former = await pipelines.start(a.handle, {
        source: { url: proxy.url, connectTimeout: 300, reconnect: { initialDelay: 20, maxDelay: 50 } },
      });
      const newer = await pipelines.start(b.handle);
      const first = await outbox.insert(rowsOf('stubborn'));
      first.push(...(await outbox.insert(rowsOf('stubborn', 'stubborn'))));
      const [held = ''] = first;
      await waitUntil('it is in flight', () => a.started.length === 1);

      // Cut off from the server, which takes it for gone.
      proxy.freezeNewOnes();
      await sessions.end('owner');
      await waitUntil('the other one has taken over', runs(newer));
      const after = await outbox.insert(rowsOf('other'));
      await waitUntil('all is handled there', () => b.started.length === 4);
      expect(b.started.toSorted()).toEqual([...first, ...after]);
      expect(former.status().state).not.toBe('standby');

      proxy.thaw();
      const signal = a.signals.get(held);
      await waitUntil('the handler is told', () => signal?.aborted === true);
      expect(signal?.reason).toBeInstanceOf(OwnershipLostError);
      // The handler does not heed it: until it has ended this process neither owns nor stands by.
      await newer.stop();
      const more = await outbox.insert(rowsOf('stubborn', 'other'));
      await sessions.untilNobodyOwns();
      await watchFor(500, 'nothing starts here', () => a.started.length === 1);
      expect(former.status().state).not.toBe('standby');

      a.release('stubborn');
      await waitUntil('it owns again', () => a.started.length > 1);
      a.release('stubborn');
      await waitUntil('the rest is handled here', () => a.started.length === 3);
      a.release('stubborn');
      expect(a.started).toEqual([held, ...more]);
      expect(a.overlaps).toEqual([]);
      expect(pipelines.storage.get('app')?.epoch).toBe(3);
      await former.stop();
    });

    test('is cut off from the server: another takes over within the lease, and nothing more starts here', async () => {
      const silenceTimeout = 1_000;
      await using outbox = await testOutbox(kind);
      await using proxy = await TcpProxy.start(outbox.url);
      await using pipelines = new Pipelines(outbox, 'app');
      const [a, b] = [new Process(['slow']), new Process()];
      const former = await pipelines.start(a.handle, {
        source: { url: proxy.url, silenceTimeout, connectTimeout: 300 },
        concurrency: 1,
      });
      const newer = await pipelines.start(b.handle);
      await outbox.insert(rowsOf('slow', 'x', 'y', 'z'));
      await waitUntil('the rest waits', () => former.status().unsettled === 4);

      // Nothing comes through any more, neither a word nor an end.
      proxy.freeze();
      proxy.freezeNewOnes();
      const cut = Date.now();
      await waitUntil('the other one has taken over', runs(newer));
      expect(Date.now() - cut).toBeLessThan(2 * silenceTimeout + TAKE_OVER);
      await waitUntil('all is handled there', () => b.started.length === 4);
      a.release('slow');
      await watchFor(300, 'nothing more starts', () => a.started.length === 1);
      proxy.thaw();
      await waitUntil('it stands by', () => former.status().state === 'standby', { deadlineMs: 15_000 });
      expect(a.started).toHaveLength(1);
      await newer.stop();
      await former.stop();
    });

    test('is told by the offset store, when the server is out of its reach', async () => {
      await using outbox = await testOutbox(kind);
      await using proxy = await TcpProxy.start(outbox.url);
      await using pipelines = new Pipelines(outbox, 'app');
      const [a, b] = [new Process(['slow', 'x']), new Process()];
      const former = await pipelines.start(a.handle, { source: { url: proxy.url, connectTimeout: 300 } });
      const newer = await pipelines.start(b.handle);
      const [slow = ''] = await outbox.insert(rowsOf('slow', 'x'));
      await waitUntil('two are in flight', () => a.started.length === 2);

      // Nothing comes through any more, and it does not know.
      proxy.freeze();
      proxy.freezeNewOnes();
      await outbox.sessionsOf('app').end('owner');
      await waitUntil('the other one has taken over', runs(newer));
      await waitUntil('all is handled there', () => b.started.length === 2);
      expect(former.status().state).toBe('running');
      const { epoch } = newer.status();
      a.release('x');
      await waitUntil('the handler is told', () => a.signals.get(slow)?.aborted === true);
      expect(a.signals.get(slow)?.reason).toBeInstanceOf(OwnershipLostError);
      a.release('slow');

      proxy.thaw();
      await waitUntil('it stands by', () => former.status().state === 'standby', { deadlineMs: 15_000 });
      await outbox.insert(rowsOf('slow', 'x'));
      await waitUntil('what comes now is handled there', () => b.started.length === 4);
      expect(a.started).toHaveLength(2);
      expect(pipelines.storage.get('app')?.epoch).toBe(epoch);
      await newer.stop();
      await former.stop();
    });
  },
);
