import { Executor, type DeadLetterDesk } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { Happenings } from '../../src/control/happenings.js';
import { listStrands } from '../../src/report/strand-list.js';
import type { Run } from '../../src/run.js';
import { FakeLetters } from '../fake-letters.js';
import { event, STEADY, until } from '../fixtures.js';
import { ControlWorld, events } from './control-world.js';

const NEVER = { ...STEADY, initialDelay: 3_600_000, maxDelay: 3_600_000 };

describe('strands', () => {
  it('tell what a key does, why, since when and what it holds up', async () => {
    const world = await new ControlWorld(null, { retry: NEVER }).start();
    world.bad.add('1');
    const slow = world.slowDown('4');
    world.stream.give(events('aabbbc'));
    await world.untilSeen('3', '4', '6');
    await world.pipeline.control.hold('d');
    world.stream.give(events('d', 7));
    await until('d is here', () => world.pipeline.status().held === 1);
    const { strands, next, live, looked } = await world.pipeline.strands({ sort: 'depth' });
    expect([strands.map(({ key }) => key), next, live, looked]).toEqual([['a', 'b', 'd'], null, 3, 3]);
    const [a, b, d] = strands;
    expect(a).toMatchObject({
      ...{ state: 'backoff', held: false, depth: 2, attempts: 1, turn: null },
      head: { id: '1', position: 'p1', committedAt: '2026-01-01T00:00:00.000000Z' },
      lastError: { name: 'Error', code: 'E_BAD', message: 'bad' },
      history: [{ first: 1, last: 1, error: { name: 'Error', code: 'E_BAD', message: 'bad' } }],
      holdsUp: { behind: 1, watermark: { spans: 0, unsettled: 5 } },
    });
    expect(Date.parse(a?.nextTryAt ?? '') - Date.parse(a?.firstFailedAt ?? '')).toBeGreaterThan(3_000_000);
    expect(b).toMatchObject({
      state: 'running',
      turn: { events: 1, stuck: false },
      holdsUp: { watermark: null },
    });
    const [only] = a?.history ?? [];
    expect([only?.firstFailedAt, only?.lastFailedAt]).toEqual([a?.firstFailedAt, a?.firstFailedAt]);
    expect(b?.turn?.runningFor).toBeGreaterThanOrEqual(0);
    expect(d).toMatchObject({ state: 'held', held: true, attempts: 0, lastError: null, history: [] });
    expect(d?.firstFailedAt).toBeNull();
    expect((await world.pipeline.strands({ sort: 'failing' })).strands.map(({ key }) => key)).toEqual(['a']);
    expect((await world.pipeline.strands({ sort: 'slowest' })).strands.map(({ key }) => key)).toEqual(['b']);
    expect((await world.pipeline.strands({ state: 'held' })).strands.map(({ key }) => key)).toEqual(['d']);
    expect((await world.pipeline.strands({ search: 'c' })).strands).toEqual([]);
    slow.open();
    await world.pipeline.stop();
  });

  it('come page by page, in every order', async () => {
    const world = await new ControlWorld().start();
    await world.pipeline.control.pause();
    const keys = Array.from({ length: 25 }, (_, n) => `key ${String(n)}`);
    let at = 0;
    world.stream.give(
      keys.flatMap((key, n) => Array.from({ length: 1 + (n % 4) }, () => event(key, (at += 1)))),
    );
    await until('all are here', () => world.pipeline.status().strands === 25);
    for (const sort of ['age', 'depth'] as const) {
      const found: string[] = [];
      const depths: number[] = [];
      let after: string | null = null;
      do {
        const page = await world.pipeline.strands({ sort, limit: 7, ...(after === null ? {} : { after }) });
        found.push(...page.strands.map(({ key }) => key));
        depths.push(...page.strands.map(({ depth }) => depth));
        after = page.next;
      } while (after !== null);
      expect(found.toSorted()).toEqual(keys.toSorted());
      if (sort === 'depth') expect(depths).toEqual(depths.toSorted((a, b) => b - a));
    }
    for (const query of [{ limit: 0 }, { limit: 1_001 }, { sort: 'name' as never }, { after: 'x' }])
      await expect(world.pipeline.strands(query)).rejects.toMatchObject({ code: 'PIPELINE_CONTROL' });
    await world.pipeline.stop();
  });

  it('are looked through a chunk at a time, however many there are', async () => {
    const executor = new Executor({ start: 'p0', concurrency: 1, batch: 1, retry: STEADY, random: () => 0 });
    for (let n = 1; n <= 100_000; n += 1) executor.admit(event(`key ${String(n)}`, n));
    const run = { executor, turns: () => [], newest: null } as unknown as Run;
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const { strands, looked } = await listStrands(run, { sort: 'age', search: '9999' });
    isOver = true;
    expect(looked).toBe(100_000);
    expect(strands.map(({ key }) => key)).toContain('key 99990');
    // Others had their turn in between.
    expect(turns).toBeGreaterThan(20);
  });
});

/** The operator's side of a fake table, as far as a look at a key needs it. */
function deskOf(letters: FakeLetters): DeadLetterDesk {
  const desk: Pick<DeadLetterDesk, 'list' | 'close'> = {
    list: () => Promise.resolve(letters.waiting('a')),
    close: () => Promise.resolve(),
  };
  return desk as DeadLetterDesk;
}

describe('a key', () => {
  it('tells its whole life, without payloads', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters, { retry: { ...STEADY, attempts: 2 } }).start();
    const { pipeline } = world;
    letters.desk = () => deskOf(letters);
    world.bad.add('1');
    world.stream.give(events('aa'), 3);
    await world.untilSettled(3);
    const parked = await pipeline.key('a');
    const error = { name: 'Error', code: 'E_BAD', message: 'bad' };
    expect(parked.letters).toMatchObject([
      { attempts: 2, error, history: [{ first: 1, last: 2, error }] },
      { attempts: 0, error: null, history: [] },
    ]);
    world.bad.clear();
    letters.releasedKeys.add('a');
    await world.untilSeen('2');
    await until('it is live again', () => pipeline.status().parked === 0);
    await pipeline.control.hold('a', { by: 'ann', note: 'why' });
    world.stream.give(events('aaa', 4));
    await world.untilState('a', 'held');
    const view = await pipeline.key('a');
    expect(view).toMatchObject({
      ...{ key: 'a', owned: true, parked: null, paused: null, letters: [], lettersError: null },
      strand: { state: 'held', depth: 3 },
      held: { by: 'ann', note: 'why' },
    });
    expect(view.waiting.map(({ id, inFlight }) => [id, inFlight])).toEqual([
      ['4', false],
      ['5', false],
      ['6', false],
    ]);
    expect(view.happenings.map(({ what }) => what)).toEqual([
      'failed',
      'failed',
      'parked',
      'live again',
      'held',
    ]);
    expect(view.happenings[1]).toMatchObject({ attempt: 2, position: 'p1', error: { message: 'bad' } });
    expect(JSON.stringify(view)).not.toContain('secret');
    await pipeline.stop();
  });

  it('of which nothing is known, and a table that can not be asked', async () => {
    const world = await new ControlWorld(new FakeLetters()).start();
    expect(await world.pipeline.key('x')).toMatchObject({
      ...{ owned: true, strand: null, waiting: [], letters: null, happenings: [] },
      lettersError: { message: 'a fake has no desk' },
    });
    await world.pipeline.stop();
    expect(await world.pipeline.key('x')).toMatchObject({ owned: false, strand: null });
  });

  it('shows the payload of an event that waits, on demand and cut', async () => {
    const world = await new ControlWorld().start();
    await world.pipeline.control.hold('a');
    const text = 'x'.repeat(20_000);
    world.stream.give([{ ...event('a', 1), payloadText: text }, event('a', 2)]);
    await until('both are here', () => world.pipeline.status().unsettled === 2);
    const { pipeline } = world;
    expect(await pipeline.payload('a', 'p1')).toEqual({
      text: text.slice(0, 16_384),
      length: 20_000,
      cut: true,
    });
    expect(await pipeline.payload('a', 'p1', 50_000)).toMatchObject({ length: 20_000, cut: false });
    expect(await pipeline.payload('a', 'p2')).toEqual({ text: null, length: 0, cut: false });
    await expect(pipeline.payload('a', 'p3')).rejects.toMatchObject({ code: 'PIPELINE_KEY_UNKNOWN' });
    await pipeline.stop();
  });
});

describe('happenings', () => {
  it('are bounded, of a key and of all; those of the key that is quiet for longest go first', () => {
    const happenings = new Happenings();
    for (let n = 0; n < 60; n += 1) happenings.add('a', { what: 'failed', attempt: n });
    expect(happenings.of('a').map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 50 }, (_, n) => n + 10),
    );
    for (let n = 0; n < 4_990; n += 1) happenings.add(`key ${String(n)}`, { what: 'failed' });
    expect(happenings.size).toBe(5_000);
    expect(happenings.of('a')).toHaveLength(10);
    for (let n = 0; n < 3_000; n += 1)
      happenings.add('b', {
        what: 'failed',
        thrown: new Error('x'.repeat(500)),
        position: 'p'.repeat(50_000),
      });
    expect(happenings.size).toBeLessThan(25);
    expect([happenings.of('a'), happenings.of('b').length > 10]).toEqual([[], true]);
  });
});
