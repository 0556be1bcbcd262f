import type { OutboxEvent } from '@strandline/core';
import { waitUntil } from '@strandline/test-kit';
import { describe, expect } from 'vitest';
import { idsOf, type EachBeside } from './log-reader-beside.js';

const secondOf = (event: OutboxEvent | undefined): number =>
  Math.floor(Date.parse(event?.transaction.commitTime ?? '') / 1_000);

export function describeStarts(each: EachBeside): void {
  describe('begins', () => {
    each("at the 'earliest', and reads the same as the owner", async (beside, driver) => {
      const ids = [...(await driver.insert('a', 'b')), ...(await driver.insert('a'))];
      const owned = await beside.owner.untilEvents(3);
      const reading = await beside.reading('earliest');
      ids.push(...(await driver.insert('c')));
      const events = await reading.untilEvents(4);
      expect(idsOf(events)).toEqual(ids);
      for (const [index, event] of owned.entries()) {
        expect(events[index]).toMatchObject({
          position: event.position,
          key: event.key,
          transaction: event.transaction,
        });
      }
      expect(reading.stream.identity).toEqual(beside.identity);
    });

    each("'now', with what commits from then on", async (beside, driver) => {
      await driver.insert('before');
      const reading = await beside.reading('now');
      const ids = await driver.insert('a', 'b');
      await reading.untilEvents(2);
      expect(reading.ids).toEqual(ids);
    });

    each('after any position of the owner, also inside a transaction', async (beside, driver) => {
      const ids = [
        ...(await driver.insert('a', 'b', 'c')),
        ...(await driver.insert('a')),
        ...(await driver.insert('d', 'e')),
      ];
      const events = await beside.owner.untilEvents(6);
      for (const [index, { position }] of events.entries()) {
        const reading = await beside.reading({ after: position, identity: beside.identity });
        const next = await driver.insert('next');
        ids.push(...next);
        await reading.until('the next one has come', () => reading.ids.includes(next[0] ?? ''));
        expect(reading.ids).toEqual(ids.slice(index + 1));
        expect(reading.stream.start).toBe(position);
        await reading.stream.close();
      }
    });

    each('after the end of a transaction, and behind the head', async (beside, driver) => {
      await driver.insert('a');
      const { owner } = beside;
      await owner.until(
        'its end is passed',
        () => owner.events.length > 0 && owner.batches.at(-1)?.passed !== null,
      );
      const { head } = await beside.stateBehind(owner.events[0]?.position ?? '');
      const readings = [];
      for (const after of [beside.owner.passed.at(-1) ?? '', head])
        readings.push(await beside.reading({ after, identity: beside.identity }));
      const ids = await driver.insert('b');
      for (const reading of readings) {
        await reading.untilEvents(1);
        expect(reading.ids).toEqual(ids);
      }
    });

    each('at a time: with the first that committed then or later', async (beside, driver) => {
      const { owner } = beside;
      await driver.insert('early');
      const [early] = await owner.untilEvents(1);
      await waitUntil(
        "the server's clock shows another second",
        async () => {
          await owner.untilEvents(owner.events.length + (await driver.insert('tick')).length);
          return secondOf(owner.events.at(-1)) > secondOf(early);
        },
        { everyMs: 100 },
      );
      await owner.untilEvents(owner.events.length + (await driver.insert('late', 'late')).length);
      const late = owner.events.at(-1);
      const reading = await beside.reading({ time: late?.transaction.commitTime ?? '' });
      await reading.until('the last one has come', () => reading.ids.includes(late?.id ?? ''));
      // A log may tell time by the second only.
      const sameSecond = owner.events.filter((event) => secondOf(event) >= secondOf(late));
      expect(idsOf(sameSecond)).toEqual(expect.arrayContaining(reading.ids));
      expect(reading.ids.slice(-2)).toEqual(owner.ids.slice(-2));
      expect(reading.ids).not.toContain(early?.id);
    });

    each('not with a position of another log', async (beside, driver) => {
      await driver.insert('a');
      const [event] = await beside.owner.untilEvents(1);
      const identity = { ...beside.identity, source: 'another' };
      await expect(beside.open({ after: event?.position ?? '', identity })).rejects.toMatchObject({
        code: expect.stringMatching(/_FOREIGN$/) as string,
        remedy: expect.any(String) as string,
      });
    });

    each('not with a text that is no position', async (beside) => {
      await expect(beside.open({ after: 'yesterday', identity: beside.identity })).rejects.toMatchObject({
        code: expect.stringMatching(/_POSITION$/) as string,
      });
    });
  });
}
