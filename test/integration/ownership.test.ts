import {
  checkHistory,
  CommitWitness,
  createOutbox,
  insertRows,
  outboxSource,
  PipelineRuns,
  rowsInTurn,
  rowsOf,
  TcpProxy,
  testDatabase,
  waitUntil,
  watchFor,
} from '@strandline/test-kit';
import { OwnershipLostError, type HandlerContext, type OutboxEvent, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { App } from './source-app.js';

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

/** Ends the replication session of a pipeline's owner on the server. */
async function endWalsender(app: App): Promise<void> {
  await app.db.pool.query(
    'SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots WHERE slot_name = $1',
    [app.source.slot],
  );
}

function runs(pipeline: Pipeline): () => boolean {
  return () => pipeline.status().state === 'running';
}

describe('a standby takes over', () => {
  test('within two seconds of kill -9, and loses nothing', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const witness = await CommitWitness.start(db);
    await using pipelines = await PipelineRuns.prepare({
      name: 'take-over',
      source,
      behaviour: { delay: 2, jitter: true },
    });
    const owner = await pipelines.start();
    const standby = await pipelines.start();
    await standby.untilStatus('it stands by', ({ state }) => state === 'standby');
    const { history } = pipelines;
    await insertRows(db.pool, rowsInTurn(500, 20));
    await history.until('the owner is at work', () => history.succeeded.size >= 100);

    await owner.kill();
    const killed = Date.now();
    await insertRows(db.pool, rowsInTurn(100, 20));
    await history.untilSucceeded(600);
    const takenOver = history.entries.find(({ run }) => run === 2);
    expect((takenOver?.at ?? Infinity) - killed).toBeLessThan(TAKE_OVER);
    const verdict = checkHistory(await witness.events(), history.entries);
    expect(verdict.missing).toEqual([]);
    expect(verdict.violations).toEqual([]);
    await standby.stop();
  });

  test('after a stop, at once, and nothing is handled twice', async () => {
    await using app = await App.create();
    const [first, second] = [await app.start(), await app.start()];
    expect(second.status().state).toBe('standby');
    const ids = await insertRows(app.db.pool, rowsInTurn(50, 5));
    await app.untilHandled(50);
    await app.stop(first);
    const stopped = Date.now();
    ids.push(...(await insertRows(app.db.pool, rowsInTurn(50, 5))));
    await waitUntil('the second runs', runs(second));
    expect(Date.now() - stopped).toBeLessThan(TAKE_OVER);
    await app.untilHandled(100);
    await app.stop(second);
    expect(app.ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect(app.storage.get('app')?.epoch).toBe(2);
  });
});

describe('a former owner whose session was ended, and whose slot was taken', () => {
  test('hands nothing more out, tells its handlers, and stands by once the last of them has ended', async () => {
    await using app = await App.create();
    await using proxy = await TcpProxy.start(app.db.url);
    const [a, b] = [new Process(['stubborn']), new Process()];
    const former = await app.start(
      { url: proxy.url, connectTimeout: 300, reconnect: { initialDelay: 20, maxDelay: 50 } },
      { handle: a.handle },
    );
    const newer = await app.start({}, { handle: b.handle });
    const [held = ''] = await insertRows(app.db.pool, rowsOf('stubborn'));
    await insertRows(app.db.pool, rowsOf('stubborn', 'stubborn'));
    await waitUntil('it is in flight', () => a.started.length === 1);

    // Cut off from the server, which takes it for gone.
    proxy.freezeNewOnes();
    await endWalsender(app);
    await waitUntil('the other one has taken over', runs(newer));
    const after = await insertRows(app.db.pool, rowsOf('other'));
    await waitUntil('all is handled there', () => b.started.length === 4);
    expect(b.started.toSorted()).toEqual(['1', '2', '3', ...after]);
    expect(former.status()).toMatchObject({ state: 'running', source: { state: 'reconnecting' } });

    proxy.thaw();
    const signal = a.signals.get(held);
    await waitUntil('the handler is told', () => signal?.aborted === true);
    expect(signal?.reason).toBeInstanceOf(OwnershipLostError);
    // The handler does not heed it: until it has ended this process neither owns nor stands by.
    await app.stop(newer);
    const more = await insertRows(app.db.pool, rowsOf('stubborn', 'other'));
    await app.db.waitForSlot(app.source.slot, 'inactive');
    await watchFor(500, 'nothing starts here', () => a.started.length === 1);

    a.release('stubborn');
    await waitUntil('it owns again', () => a.started.length > 1);
    a.release('stubborn');
    await waitUntil('the rest is handled here', () => a.started.length === 3);
    a.release('stubborn');
    expect(a.started).toEqual([held, ...more]);
    expect(a.overlaps).toEqual([]);
    expect(app.storage.get('app')?.epoch).toBe(3);
    await app.stop(former);
  });

  test('is told by the offset store, when the server is out of its reach', async () => {
    await using app = await App.create();
    await using proxy = await TcpProxy.start(app.db.url);
    const [a, b] = [new Process(['slow', 'x']), new Process()];
    const former = await app.start({ url: proxy.url, connectTimeout: 300 }, { handle: a.handle });
    const newer = await app.start({}, { handle: b.handle });
    await insertRows(app.db.pool, rowsOf('slow', 'x'));
    await waitUntil('two are in flight', () => a.started.length === 2);

    // Nothing comes through any more, and it does not know.
    proxy.freeze();
    proxy.freezeNewOnes();
    await endWalsender(app);
    await waitUntil('the other one has taken over', runs(newer));
    await waitUntil('all is handled there', () => b.started.length === 2);
    expect(former.status().state).toBe('running');
    const saved = app.storage.get('app');
    a.release('x');
    await waitUntil('the handler is told', () => a.signals.get('1')?.aborted === true);
    expect(a.signals.get('1')?.reason).toBeInstanceOf(OwnershipLostError);
    a.release('slow');

    proxy.thaw();
    await waitUntil('it stands by', () => former.status().state === 'standby', { deadlineMs: 15_000 });
    await insertRows(app.db.pool, rowsOf('slow', 'x'));
    await waitUntil('what comes now is handled there', () => b.started.length === 4);
    expect(a.started).toHaveLength(2);
    expect(app.storage.get('app')?.epoch).toBe(saved?.epoch);
    await app.stop(newer);
    await app.stop(former);
  });
});

describe('without a standby', () => {
  test('a second process is refused, by the name of the first; when that has stopped it starts', async () => {
    await using app = await App.create();
    const first = await app.start();
    const refused = await app.refusal(app.pipeline({ standby: 'fail' }));
    expect(refused).toMatchObject({ code: 'PG_SLOT_IN_USE' });
    expect(refused.message).toMatch(/is being read by strandline\/app\/[0-9a-f]{8} \(pid \d+\)/);
    const ids = await insertRows(app.db.pool, rowsOf('a'));
    await app.untilHandled(1);
    expect(first.status().state).toBe('running');
    await app.stop(first);
    const second = await app.start({ standby: 'fail' });
    ids.push(...(await insertRows(app.db.pool, rowsOf('b'))));
    await app.untilHandled(2);
    expect(app.ids).toEqual(ids);
    await app.stop(second);
  });
});

describe('a session of one’s own that the server still believes in', () => {
  test('is ended and replaced by its own process; nothing comes twice', async () => {
    await using app = await App.create();
    await using proxy = await TcpProxy.start(app.db.url);
    const { url } = outboxSource(app.db, proxy.url);
    const owner = await app.start({ url, silenceTimeout: 1_000, reconnect: { initialDelay: 10 } });
    const ids = await insertRows(app.db.pool, rowsInTurn(20, 4));
    await app.untilHandled(20);
    const { pid: stale } = await walsender(app);
    proxy.freeze();
    ids.push(...(await insertRows(app.db.pool, rowsInTurn(20, 4))));
    await app.untilHandled(40);
    const { pid, name } = await walsender(app);
    expect(pid).not.toBe(stale);
    expect(name).toMatch(/^strandline\/app\//);
    expect(owner.status()).toMatchObject({ state: 'running', epoch: 1, source: { reconnects: 1 } });
    await app.db.waitFor(
      'the stale session is gone',
      'SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)',
      [stale],
    );
    await app.stop(owner);
    expect(app.ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
  });

  async function walsender(app: App): Promise<{ pid: number; name: string }> {
    const { rows } = await app.db.pool.query<{ pid: number; name: string }>(
      `SELECT pid, application_name AS name FROM pg_stat_activity
       WHERE pid = (SELECT active_pid FROM pg_replication_slots WHERE slot_name = $1)`,
      [app.source.slot],
    );
    return rows[0] ?? expect.fail('nobody reads the slot');
  }
});
