import { once } from 'node:events';
import { OwnershipLostError, type Offset } from '@strandline/core';
import {
  MemoryHistory,
  MysqlTestOutbox,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  TcpProxy,
  TestLog,
  testOutbox,
  waitUntil,
  watchFor,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, type OutboxEvent, type Pipeline } from 'strandline';
import { expect, test } from 'vitest';
import { Pipelines } from './pipelines.js';

/** On Postgres the session that reads the log is the lock, and a process that lost it may take it again at once. */
test.each(['mysql', 'mariadb'] as const)(
  '%s: when the connection that holds the lock is lost, handlers are told, and it takes over from itself',
  async (kind) => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const aborted: string[] = [];
    await using pipeline = definePipeline({
      name: 'owner',
      source: outbox.source(),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: (event, ctx) => {
        ctx.signal.addEventListener('abort', () => aborted.push(event.key));
        return handler.handle(event, ctx);
      },
    });
    await pipeline.start();
    const [, b = ''] = await outbox.insert(rowsOf('k1', 'k1'));
    await history.until('A runs', () => history.isRunning('k1', 1));

    await outbox.sessionsOf('owner').end('owner');
    await waitUntil('the handler is told', () => aborted.includes('k1'), { deadlineMs: 2_000 });
    // It does not listen. Nothing of its key may start before it has ended, however long that takes.
    await watchFor(1_000, 'only the first handler of k1 has started', () => history.ofKey('k1').length === 1);
    expect(pipeline.status().epoch).toBe(1);
    handler.release('k1');
    await history.until('B is done', () => history.succeeded.has(b));
    expect(history.ofKey('k1').map(({ what }) => what)).toEqual([
      'started',
      'succeeded',
      'started',
      'succeeded',
      'started',
      'succeeded',
    ]);
    expect(pipeline.status().epoch).toBe(2);
  },
);

test.each(['mysql', 'mariadb'] as const)(
  '%s: when it is lost while the window is full, what is queued does not start beside the next owner',
  async (kind) => {
    await using outbox = await testOutbox(kind);
    const storage = new Map<string, Offset>();
    const end = new AbortController();
    const process = (handle: (id: string, signal: AbortSignal) => void): Pipeline =>
      definePipeline({
        name: 'full',
        source: outbox.source(),
        offsets: memoryOffsets({ storage }),
        log: new TestLog(),
        concurrency: 2,
        window: { events: 20 },
        handle: async ({ id }, { signal }) => {
          handle(id, signal);
          if (!end.signal.aborted) await once(end.signal, 'abort');
        },
      });
    const told: string[] = [];
    const seen: string[] = [];
    await using owner = process((id, signal) => {
      seen.push(id);
      signal.addEventListener('abort', () => told.push(id));
    });
    const seenNext: string[] = [];
    await using next = process((id) => seenNext.push(id));
    await owner.start();
    await next.start();
    await outbox.insert(rowsInTurn(100, 50));
    await waitUntil('the window is full', () => owner.status().paused === 'window');
    expect(seen).toHaveLength(2);
    await outbox.sessionsOf('full').end('owner');
    await waitUntil('those that run are told', () => told.length === 2, { deadlineMs: 2_000 });
    await waitUntil('the other process has taken over', () => seenNext.length === 2);
    end.abort();
    await waitUntil('it stands by', () => owner.status().state === 'standby');
    expect(seen, 'what was queued did not start').toHaveLength(2);
    await waitUntil('the other one does it all', () => new Set(seenNext).size === 100);
  },
);

test.each(['mysql', 'mariadb'] as const)(
  '%s: the source tells the loss while nothing is read',
  async (kind) => {
    await using outbox = await testOutbox(kind);
    const offsets = memoryOffsets();
    const stream = await outbox.source().open({
      pipeline: 'losing',
      load: () => offsets.load('losing'),
      claim: (seed) => offsets.claim('losing', seed),
      standby: () => undefined,
      signal: new AbortController().signal,
      log: new TestLog(),
    });
    try {
      await outbox.sessionsOf('losing').end('owner');
      await waitUntil('it is told', () => stream.lost.aborted, { deadlineMs: 2_000 });
      expect(stream.lost.reason).toBeInstanceOf(OwnershipLostError);
      await expect(stream.read()[Symbol.asyncIterator]().next()).rejects.toBe(stream.lost.reason);
    } finally {
      await stream.close();
    }
  },
);

/** The server ends the older one of two readers with one id, and says so to it like to a reader of another pipeline. */
test.each(['mysql', 'mariadb'] as const)(
  '%s: a former owner whose place as a reader was taken before it heard of its lock stands by',
  async (kind) => {
    await using outbox = await testOutbox(kind);
    await using proxy = await TcpProxy.start(outbox.url);
    await using pipelines = new Pipelines(outbox, 'reader');
    const seen: string[][] = [[], []];
    const handle =
      (n: number) =>
      ({ id }: OutboxEvent): unknown =>
        seen[n]?.push(id);
    const former = await pipelines.start(handle(0), { source: { url: proxy.url, silenceTimeout: 1_000 } });
    const newer = await pipelines.start(handle(1));
    const ids = await outbox.insert(rowsOf('a', 'b'));
    await waitUntil('the first one is at work', () => seen[0]?.length === 2);

    proxy.freeze('sql');
    await outbox.sessionsOf('reader').end('owner');
    await waitUntil('the other one has taken over', () => newer.status().state === 'running');
    await waitUntil('the former one stands by', () => former.status().state === 'standby');
    ids.push(...(await outbox.insert(rowsOf('a', 'b'))));
    await waitUntil('all is handled', () => seen.flat().length >= 4);
    expect(newer.status().state).toBe('running');
    await newer.stop();
    ids.push(...(await outbox.insert(rowsOf('a'))));
    await waitUntil('it owns again', () => former.status().state === 'running');
    await waitUntil('all is handled', () => seen[0]?.includes(ids.at(-1) ?? '') === true);
    expect([...new Set(seen.flat())].toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
  },
);

/** The server has its answer for nobody: the lock is given to a connection behind which there is no process any more. */
test.each(['mysql', 'mariadb'] as const)(
  '%s: a standby that was cut off while it waited is given the lock, and does not keep it from the others',
  async (kind) => {
    await using outbox = await MysqlTestOutbox.create(kind);
    await using proxy = await TcpProxy.start(outbox.url);
    await using pipelines = new Pipelines(outbox, 'inherited');
    const silenceTimeout = 1_000;
    const seen: string[] = [];
    const handle = ({ id }: OutboxEvent): unknown => seen.push(id);
    const owner = await pipelines.start(handle, { source: { silenceTimeout } });
    const cutOff = await pipelines.start(handle, { source: { url: proxy.url, silenceTimeout } });
    expect(cutOff.status().state).toBe('standby');
    await outbox.db.waitFor(
      'it waits for the lock',
      `SELECT count(*) = 1 FROM information_schema.processlist WHERE user = ? AND left(info, 16) = 'select get_lock('`,
      [outbox.db.name],
    );
    proxy.freeze();
    proxy.freezeNewOnes();
    const other = await pipelines.start(handle, { source: { silenceTimeout } });

    await owner.stop();
    const ids = await outbox.insert(rowsOf('a', 'b'));
    // As long as an owner that says nothing, and no longer.
    await waitUntil('the other one has taken over', () => other.status().state === 'running', {
      deadlineMs: 2 * silenceTimeout + 4_000,
    });
    await waitUntil('all is handled', () => seen.length === 2);
    expect(seen.toSorted()).toEqual(ids);
  },
);
