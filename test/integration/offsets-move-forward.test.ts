import { setImmediate } from 'node:timers/promises';
import type { Offset, OffsetStore } from '@strandline/core';
import { startRedis } from '@strandline/servers';
import {
  databaseKinds,
  MemoryHistory,
  offsetsWith,
  onceEach,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  TestLog,
  testOutbox,
  testRedis,
  waitUntil,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, redisOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';

/** Passes everything on, and notes the watermarks whose saving was acknowledged. */
function noting(store: OffsetStore, acknowledged: string[]): OffsetStore {
  return offsetsWith(store, {
    async claim(pipeline, seed) {
      const offset = await store.claim(pipeline, seed);
      acknowledged.push(offset.watermark);
      return offset;
    },
    async commit(pipeline, offset) {
      const result = await store.commit(pipeline, offset);
      if (result === 'saved' || result === 'restored') acknowledged.push(offset.watermark);
      return result;
    },
  });
}

/** Looks again and again, until it is stopped, and keeps what is wrong. */
function watching(look: () => Promise<string | null>): {
  stop(): Promise<{ looks: number; faults: string[] }>;
} {
  const faults: string[] = [];
  let looks = 0;
  let isStopped = false;
  const loop = (async () => {
    while (!isStopped) {
      const fault = await look();
      await setImmediate(); // what it looks at needs time, too
      looks += 1;
      if (fault !== null) faults.push(fault);
    }
  })();
  loop.catch(() => undefined); // told by stop()
  return {
    async stop() {
      isStopped = true;
      await loop;
      return { looks, faults };
    },
  };
}

describe.each(databaseKinds)(
  '%s: offsets only move forward, and the log is released only behind them',
  (kind) => {
    test('under load, while Redis hangs, is killed and comes back', async () => {
      await using redis = await startRedis({ exclusive: true });
      await using keys = await testRedis(redis.url);
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      const isBehind = (a: string, b: string): boolean =>
        outbox.comparePlaces(outbox.placeOf(a), outbox.placeOf(b)) <= 0;
      const history = new MemoryHistory();
      const acknowledged: string[] = [];
      const store = redisOffsets({ url: redis.url, keyPrefix: keys.prefix, commandTimeout: 300 });
      await using pipeline = definePipeline({
        name: 'forward',
        source: outbox.source(),
        offsets: noting(store, acknowledged),
        commitInterval: 20,
        log: new TestLog(),
        handle: new ScriptedHandler(history.record, { delay: 10, jitter: true }).handle,
      });
      await pipeline.start();

      let isRedisAway = false;
      const unlessAway = (fault: string): string | null => (isRedisAway ? null : fault);
      let lastInRedis: string | null = null;
      const marks = watching(async () => {
        // Asked first: all marks only move forward, so one that is ahead of what is asked later was ahead then.
        const released = (await outbox.release?.upTo()) ?? null;
        const acknowledgedLast = acknowledged.at(-1) ?? '';
        if (released !== null && !isBehind(released, acknowledgedLast))
          return `${released} is released, ${acknowledgedLast} was saved`;
        if (isRedisAway) return null;
        const key = `${keys.prefix}:{forward}:offset`;
        const saved = await keys.client.hget(key, 'watermark').catch(() => null);
        if (saved === null) return unlessAway('there is no offset in Redis');
        if (released !== null && !isBehind(released, saved))
          return `${released} is released, Redis has ${saved}`;
        const before = lastInRedis ?? saved;
        lastInRedis = saved;
        return isBehind(before, saved) ? null : `${before} became ${saved} in Redis`;
      });

      await using writers = outbox.writers();
      const more = (count: number): Promise<void> => history.untilSucceeded(history.succeeded.size + count);
      const away = async (): Promise<void> => {
        await waitUntil('a commit has failed', () => !pipeline.status().offsetsAvailable);
        const saved = acknowledged.at(-1);
        await more(100);
        expect(acknowledged.at(-1)).toBe(saved);
        expect(pipeline.status()).toMatchObject({ state: 'running', savedWatermark: saved });
      };
      const back = (): Promise<boolean> =>
        waitUntil('it is saved again', () => pipeline.status().offsetsAvailable);
      await more(200);
      isRedisAway = true;
      await redis.pause();
      await away();
      await redis.resume();
      await back();
      isRedisAway = false;
      await more(200);
      isRedisAway = true;
      await redis.kill();
      await away();
      await redis.start();
      await back();
      isRedisAway = false;
      await more(200);
      await writers.stop();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      await pipeline.stop();

      const { looks, faults } = await marks.stop();
      expect(faults).toEqual([]);
      expect(looks).toBeGreaterThan(100);
      expect(acknowledged.length).toBeGreaterThan(5);
      for (const [index, saved] of acknowledged.entries())
        expect(isBehind(acknowledged[index - 1] ?? saved, saved)).toBe(true);
      expect(outbox.check(committed, history)).toEqual(onceEach);
      const last = acknowledged.at(-1) ?? '';
      const lastEvent = committed.at(-1)?.position ?? '';
      expect(outbox.comparePlaces(outbox.placeOf(last), lastEvent)).toBeGreaterThanOrEqual(0);
      expect(await keys.client.hget(`${keys.prefix}:{forward}:offset`, 'watermark')).toBe(last);
      await outbox.release?.until(last);
    });

    test('when an event is settled, and not when it is received', async () => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      const history = new MemoryHistory();
      const storage = new Map<string, Offset>();
      const handler = new ScriptedHandler(history.record, { hold: ['slow'] });
      await using pipeline = definePipeline({
        name: 'settled',
        source: outbox.source(),
        offsets: memoryOffsets({ storage }),
        commitInterval: 10,
        log: new TestLog(),
        handle: handler.handle,
      });
      await pipeline.start();
      await outbox.insert(rowsOf('before'));
      await outbox.insert(rowsOf('before', 'slow', 'after', 'slow'));
      for (let count = 0; count < 20; count += 1) await outbox.insert(rowsInTurn(10, 10));
      await history.untilSucceeded(203);
      await waitUntil('all of it is saved', () => pipeline.status().unsaved === 0);

      const committed = await witness.events();
      const [, before, slow = '', , , ...rest] = committed.map(({ position }) => position);
      const last = rest.at(-1) ?? '';
      const saved = storage.get('settled');
      expect(outbox.placeOf(saved?.watermark ?? ''), 'up to the last one that is settled').toBe(before);
      // What is done above it is saved beside it, in as many runs as there are gaps.
      expect(saved?.completed.length).toBe(2);
      if (outbox.release !== null)
        expect(outbox.comparePlaces(await outbox.release.upTo(), slow)).toBeLessThanOrEqual(0);

      handler.release();
      await history.untilSucceeded(205);
      await waitUntil('all of it is saved', () => {
        const offset = storage.get('settled');
        return (
          offset?.completed.length === 0 && outbox.comparePlaces(outbox.placeOf(offset.watermark), last) >= 0
        );
      });
      await outbox.release?.until(last);
    });
  },
);
