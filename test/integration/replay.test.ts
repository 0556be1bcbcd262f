import type { OutboxEvent } from '@strandline/core';
import { databaseKinds, rowsInTurn, testOutbox, waitUntil, type TestOutbox } from '@strandline/test-kit';
import { PermanentError, type Handler, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { Pipelines } from './pipelines.js';

const NAME = 'orders';
const REPLAY = `${NAME}-replay`;
const KEYS = ['k0', 'k1', 'k2', 'k3'];
/** Events of the large replay; `REPLAYED=100000` is the long run. */
const REPLAYED = Number(process.env['REPLAYED'] ?? 5_000);
/** Milliseconds from a commit to the live handler while a replay takes all that it can: the median. */
const PACE = 500;

/** Events by their ids and keys, in the order in which a handler saw them. */
class Seen {
  readonly events: OutboxEvent[] = [];

  readonly handle = (event: OutboxEvent): void => {
    this.events.push(event);
  };

  ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  ofKey(key: string): string[] {
    return this.events.flatMap((event) => (event.key === key ? [event.id] : []));
  }

  position(id: string | undefined): string {
    return (
      this.events.find((event) => event.id === id)?.position ?? expect.fail(`${String(id)} was not seen`)
    );
  }
}

/** A pipeline that has handled what is in its log and runs on. An event that it never ends with keeps Postgres' log. */
class Live implements AsyncDisposable {
  readonly seen = new Seen();
  readonly replayed = new Seen();
  /** In commit order. */
  readonly ids: string[] = [];
  readonly pipelines: Pipelines;
  readonly pipeline: Pipeline;
  /** Called for what is replayed, before it is noted. */
  replays: Handler = () => undefined;

  private constructor(readonly outbox: TestOutbox) {
    this.pipelines = new Pipelines(outbox, NAME);
    this.pipeline = this.another();
  }

  static async start(outbox: TestOutbox, events: number): Promise<Live> {
    const live = new Live(outbox);
    await live.pipeline.start();
    await outbox.insert([{ key: 'anchor' }]);
    await live.insert(events);
    await live.hasHandledAll();
    // The anchor holds the watermark from now on: what moves it later is somebody else.
    await waitUntil('what lies before the anchor is saved', () => {
      const { watermark, savedWatermark } = live.pipeline.status();
      return savedWatermark === watermark;
    });
    return live;
  }

  /** As another process has it. */
  another(): Pipeline {
    return this.pipelines.define(this.handle, { drainTimeout: 500 });
  }

  /** Seven a transaction, so that ends lie inside of some. */
  async insert(events: number): Promise<void> {
    const rows = rowsInTurn(events, KEYS.length);
    for (let i = 0; i < rows.length; i += 7)
      this.ids.push(...(await this.outbox.insert(rows.slice(i, i + 7))));
  }

  async hasHandledAll(): Promise<void> {
    await waitUntil('the live pipeline has handled all', () => this.seen.events.length >= this.ids.length);
  }

  /** Of the ids, in commit order, those of each key. */
  expectReplayed(ids: readonly string[]): void {
    const asked = new Set(ids);
    const expected = this.seen.events.filter(({ id }) => asked.has(id));
    for (const key of KEYS) {
      const ofKey = expected.filter((event) => event.key === key).map(({ id }) => id);
      expect(this.replayed.ofKey(key), key).toEqual(ofKey);
    }
  }

  readonly handle: Handler = async (event, ctx) => {
    if (ctx.replay) {
      await this.replays(event, ctx);
      this.replayed.handle(event);
    } else if (event.key === 'anchor') {
      await new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      });
    } else {
      this.seen.handle(event);
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pipelines[Symbol.asyncDispose]();
  }
}

describe.each(databaseKinds)('%s: a replay', (kind) => {
  test('between two bookmarks is what the handler saw, key by key, while the live pipeline goes on', async () => {
    await using outbox = await testOutbox(kind);
    await using live = await Live.start(outbox, 210);
    const { pipeline } = live;
    const before = await pipeline.offsets.load(NAME);
    for (const [name, n] of [
      ['first', 50],
      ['last', 150],
    ] as const) {
      await pipeline.offsets.bookmarks.create(NAME, {
        ...{ name, position: live.seen.position(live.ids[n]), identity: before?.identity ?? {} },
        ...{ committedAt: null, createdAt: new Date().toISOString() },
      });
    }
    const inserted = live.insert(70);
    const replay = await pipeline.replay({ from: { bookmark: 'first' }, to: { bookmark: 'last' } });
    const summary = await replay.finished;
    await inserted;
    await live.hasHandledAll();

    expect(summary).toMatchObject({ state: 'completed', events: 100, keys: 4, progress: 1 });
    live.expectReplayed(live.ids.slice(51, 151));
    expect(live.seen.ids().sort(), 'the live pipeline').toEqual([...live.ids].sort());
    const after = await pipeline.offsets.load(NAME);
    expect([after?.epoch, after?.watermark]).toEqual([before?.epoch, before?.watermark]);
    expect(await pipeline.offsets.load(REPLAY)).toBeNull();
    expect(pipeline.status().state).toBe('running');
  });

  test(
    `of ${REPLAYED.toLocaleString('en-US')} events is exactly what the handler saw, while the live pipeline keeps its pace`,
    { timeout: 60_000 + REPLAYED * 3 },
    async () => {
      await using outbox = await testOutbox(kind);
      await using live = await Live.start(outbox, 0);
      const { pipeline } = live;
      await pipeline.bookmark('first');
      const rows = rowsInTurn(REPLAYED, KEYS.length);
      for (let i = 0; i < rows.length; i += 1_000)
        live.ids.push(...(await outbox.insert(rows.slice(i, i + 1_000))));
      await pipeline.bookmark('last');
      const replayed = [...live.ids];
      await live.hasHandledAll();

      const replay = await pipeline.replay({ from: { bookmark: 'first' }, to: { bookmark: 'last' } });
      const waits: number[] = [];
      let isOver = false;
      const finished = replay.finished.finally(() => (isOver = true));
      while (!isOver) {
        live.ids.push(...(await outbox.insert([{ key: 'k0' }])));
        const committed = performance.now();
        await live.hasHandledAll();
        waits.push(performance.now() - committed);
      }
      expect(await finished).toMatchObject({ state: 'completed', events: REPLAYED });
      live.expectReplayed(replayed);
      expect(live.replayed.events).toHaveLength(REPLAYED);
      expect(waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(PACE);
    },
  );

  test('from the oldest up to now ends on an idle outbox, and takes what fits its filter', async () => {
    await using outbox = await testOutbox(kind);
    await using live = await Live.start(outbox, 40);
    const { pipeline } = live;
    const replay = await pipeline.replay({ from: 'earliest', key: 'k1' });
    expect(await replay.finished).toMatchObject({ state: 'completed', events: 10, skipped: 31 });
    expect(live.replayed.ids()).toEqual(live.seen.ofKey('k1'));
    const counted = await (await pipeline.replay({ from: 'earliest', dryRun: true })).finished;
    expect(counted).toMatchObject({ events: 41, keys: 5 });
    expect(live.replayed.events).toHaveLength(10);
  });

  test('from a time is what committed then or later', async () => {
    await using outbox = await testOutbox(kind);
    await using live = await Live.start(outbox, 14);
    const { pipeline } = live;
    // The binlog tells whole seconds.
    await waitUntil('a second is over', async () => {
      await live.insert(1);
      await live.hasHandledAll();
      const times = live.seen.events.map(({ transaction }) => transaction.commitTime);
      return times.some((time) => Date.parse(time) - Date.parse(times[0] ?? '') >= 1_500);
    });
    const { commitTime } = live.seen.events.at(-1)?.transaction ?? expect.fail('nothing was seen');
    await (
      await pipeline.replay({ from: { time: commitTime } })
    ).finished;
    const later = live.seen.events.filter(({ transaction }) => transaction.commitTime >= commitTime);
    live.expectReplayed(later.map(({ id }) => id));
    live.replayed.events.length = 0;
    await (
      await pipeline.replay({ from: 'earliest', to: { time: commitTime } })
    ).finished;
    const earlier = live.seen.events.filter(({ transaction }) => transaction.commitTime < commitTime);
    live.expectReplayed(earlier.map(({ id }) => id));
  });

  test('that is interrupted goes on in another process, and loses and swaps nothing', async () => {
    await using outbox = await testOutbox(kind);
    await using live = await Live.start(outbox, 210);
    const { pipeline } = live;
    const from = { position: live.seen.position(live.ids[10]) };
    live.replays = () => {
      if (live.replayed.events.length >= 60) void replay.stop();
    };
    const replay = await pipeline.replay({ from });
    expect((await replay.finished).state).toBe('interrupted');
    const sofar = live.replayed.events.length;
    expect(sofar).toBeLessThan(199);
    live.replays = () => undefined;
    await using another = live.another();
    await expect(another.replay({ from: 'earliest' })).rejects.toMatchObject({ code: 'REPLAY_UNFINISHED' });
    await live.insert(7);
    expect(await (await another.replay({ from })).finished).toMatchObject({ events: 199 - sofar });
    live.expectReplayed(live.ids.slice(11, 210));
  });

  test('whose handler fails for good stops there, and disturbs nobody', async () => {
    await using outbox = await testOutbox(kind);
    await using live = await Live.start(outbox, 40);
    const { pipeline } = live;
    const broken = live.ids[20];
    live.replays = ({ id }) => {
      if (id === broken) throw new PermanentError('broken');
    };
    const replay = await pipeline.replay({ from: 'earliest' });
    const { key } = live.seen.events.find(({ id }) => id === broken) ?? expect.fail('it was not seen');
    await expect(replay.finished).rejects.toMatchObject({
      ...{ code: 'REPLAY_FAILED', key, position: live.seen.position(broken) },
    });
    await live.insert(7);
    await live.hasHandledAll();
    live.replays = () => undefined;
    await (
      await pipeline.replay({ from: 'earliest' })
    ).finished;
    live.expectReplayed(live.ids.slice(0, 40));
  });
});

test.each(databaseKinds)('%s: a tail is what commits, in commit order, and touches nothing', async (kind) => {
  await using outbox = await testOutbox(kind);
  await using live = await Live.start(outbox, 14);
  const { pipeline } = live;
  const tailed = new Seen();
  for await (const event of pipeline.tail({ from: { position: live.seen.position(live.ids[3]) } })) {
    tailed.handle(event);
    if (tailed.events.length === 10) await live.insert(7);
    if (tailed.events.length === 17) break;
  }
  expect(tailed.ids()).toEqual(live.ids.slice(4));
  await live.hasHandledAll();
  expect([...live.pipelines.storage.keys()]).toEqual([NAME]);
});
