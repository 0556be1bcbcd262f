import type { LogStart } from '@strandline/core';
import { waitUntil } from '@strandline/test-kit';
import { describe, expect } from 'vitest';
import type { EachBeside } from './log-reader-beside.js';

export function describeReading(each: EachBeside): void {
  describe('reads', () => {
    each('in commit order, what committed late as well', async (beside, driver) => {
      const late = await driver.begin();
      const [first] = await late.insert('a');
      const [second] = await driver.insert('a');
      const reading = await beside.reading('earliest');
      await reading.untilEvents(1);
      await late.commit();
      const dropped = await driver.begin();
      await dropped.insert('a');
      await dropped.rollback();
      const [last] = await driver.insert('a');
      await reading.untilEvents(3);
      expect(reading.ids).toEqual([second, first, last]);
      await beside.owner.untilEvents(3);
      expect(beside.owner.ids).toEqual(reading.ids);
    });

    each('positions that rise, and orders them as the owner does', async (beside, driver) => {
      for (const keys of [['a', 'b'], ['c'], ['d', 'e']]) await driver.insert(...keys);
      const reading = await beside.reading('earliest');
      await reading.untilEvents(5);
      const { positions, stream } = reading;
      for (const [index, position] of positions.slice(1).entries()) {
        const before = positions[index] ?? '';
        for (const log of [stream, beside.owner.stream]) {
          expect(log.compare(before, position)).toBeLessThan(0);
          expect(log.compare(position, before)).toBeGreaterThan(0);
          expect(log.compare(position, position)).toBe(0);
        }
      }
    });

    each('on over a connection that breaks, each event once, in order', async (beside, driver) => {
      const reading = await beside.reading('earliest');
      const ids = await driver.insert('a', 'b');
      await reading.untilEvents(2);
      await beside.owner.untilEvents(2);
      for (let round = 1; round <= 2; round += 1) {
        await driver.cutConnections();
        ids.push(...(await driver.insert('a', 'c')));
        await reading.untilEvents(ids.length);
        await beside.owner.untilEvents(ids.length);
      }
      expect(reading.ids).toEqual(ids);
    });

    each('a large transaction whose middle a connection does not survive', async (beside, driver) => {
      const rows = 24_000;
      await driver.insertMany(rows, 1_000);
      const reader = await beside.open('earliest');
      const ordinals: number[] = [];
      for await (const { events } of reader.read()) {
        if (ordinals.length === 0 && events.length > 0) await driver.cutConnections();
        ordinals.push(...events.map(({ transaction }) => transaction.ordinal));
        if (ordinals.length >= rows) break;
      }
      expect(ordinals).toEqual(Array.from({ length: rows }, (_, i) => i + 1));
    });

    each('for several at once, and all get everything', async (beside, driver) => {
      const readings = await Promise.all(
        ['earliest' as const, 'earliest' as const, 'now' as const].map((from) => beside.reading(from)),
      );
      const ids: string[] = [];
      for (let n = 0; n < 50; n += 1) ids.push(...(await driver.insert(`k${String(n % 5)}`)));
      for (const reading of [...readings, beside.owner]) {
        await reading.untilEvents(50);
        expect(reading.ids).toEqual(ids);
      }
      expect(beside.owner.stream.status().reconnects).toBe(0);
    });
  });

  describe('leaves', () => {
    each('nothing behind on the server, and the owner undisturbed', async (beside, driver) => {
      const ids = await driver.insert('a');
      await beside.owner.untilEvents(1);
      const before = await driver.belongings();
      const { position = '' } = beside.owner.events[0] ?? {};
      const starts: LogStart[] = [
        'earliest',
        'now',
        { after: position, identity: beside.identity },
        { time: beside.owner.events[0]?.transaction.commitTime ?? '' },
      ];
      for (const from of starts) {
        const reading = await beside.reading(from);
        ids.push(...(await driver.insert('b')));
        await reading.until('the last one has come', () => reading.ids.includes(ids.at(-1) ?? ''));
        await reading.stream.close();
        await reading.over;
      }
      const abort = new AbortController();
      const aborted = await beside.open('earliest', abort.signal);
      abort.abort();
      for await (const batch of aborted.read()) expect.fail(`a batch came: ${JSON.stringify(batch)}`);
      await waitUntil('only the owner is there', async () => {
        const now = await driver.belongings();
        return now.length === before.length && now.every((name) => before.includes(name));
      });
      ids.push(...(await driver.insert('c')));
      await beside.owner.untilEvents(ids.length);
      expect(beside.owner.ids).toEqual(ids);
      expect(beside.owner.stream.status().reconnects).toBe(0);
      expect(beside.owner.stream.lost.aborted).toBe(false);
    });

    each('a read that waits, when it is closed; again does nothing', async (beside) => {
      const reading = await beside.reading('now');
      await Promise.all([reading.stream.close(), reading.stream.close()]);
      await reading.over;
      await reading.stream[Symbol.asyncDispose]();
    });
  });
}
