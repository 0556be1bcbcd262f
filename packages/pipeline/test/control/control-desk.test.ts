import { NO_CONTROLS, StrandlineError, type Controls } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { FakeLetters } from '../fake-letters.js';
import { FakeStore, offsetAt, turn, until } from '../fixtures.js';
import { ControlWorld, events } from './control-world.js';

const away = new StrandlineError('OFFSETS_UNAVAILABLE', 'It is away.', 'Wait.', { transient: true });
const corrupt = new StrandlineError('OFFSETS_CORRUPT', 'It is broken.', 'Mend it.');

function ordered(overrides: Partial<Controls>): Controls {
  return { ...NO_CONTROLS, revision: 1, ...overrides };
}

const order = { by: 'ann', at: '2026-01-01T00:00:00.000Z', note: 'why' };

describe('holding a key', () => {
  it('acts at once here: its events wait in order, other keys go on; releasing lets them go', async () => {
    const world = await new ControlWorld().start();
    const { control } = world.pipeline;
    const answer = await control.hold('a', { by: 'ann', note: 'the bank has called' });
    expect(answer).toMatchObject({ changed: true, here: true, held: { key: 'a', by: 'ann' } });
    world.stream.give(events('aabab'), 6);
    await world.untilSeen('3', '5');
    await turn();
    expect(world.seen).toEqual(['3', '5']);
    expect(world.pipeline.status()).toMatchObject({ held: 1, unsettled: 3, watermark: 'p0' });
    expect(await control.release('a')).toMatchObject({ changed: true, was: { note: 'the bank has called' } });
    await world.untilSettled(6);
    expect(world.seen).toEqual(['3', '5', '1', '2', '4']);
    await world.pipeline.stop();
  });

  it('is asked for once: who held it first stays, and so it is with releasing', async () => {
    const world = await new ControlWorld().start();
    const { control } = world.pipeline;
    await control.hold('a', { by: 'ann' });
    expect(await control.hold('a', { by: 'bob' })).toMatchObject({ changed: false, held: { by: 'ann' } });
    expect(await control.release('b')).toMatchObject({ changed: false, was: null });
    expect((await control.controls()).held.map(({ key }) => key)).toEqual(['a']);
    await world.pipeline.stop();
  });

  it('lets a handler end that runs', async () => {
    const world = await new ControlWorld().start();
    const slow = world.slowDown('1');
    world.stream.give(events('aa'));
    await world.untilSeen('1');
    await world.pipeline.control.hold('a');
    slow.open();
    await until('it has ended', () => world.pipeline.status().settled === 1);
    expect(world.pipeline.status()).toMatchObject({ held: 1, running: 0 });
    expect(world.seen).toEqual(['1']);
    await world.pipeline.stop();
  });

  it('refuses what is too long, and too many', async () => {
    const world = new ControlWorld();
    const { control } = world.pipeline;
    for (const attempt of [
      control.hold('k'.repeat(1_025)),
      control.hold('k', { by: 'b'.repeat(101) }),
      control.pause({ note: 'n'.repeat(501) }),
      control.hold('k', { note: 7 as never }),
    ])
      await expect(attempt).rejects.toMatchObject({ code: 'PIPELINE_CONTROL' });
    const held = Array.from({ length: 10_000 }, (_, n) => ({ key: `k${String(n)}`, ...order }));
    world.store.controls.controls = ordered({ held });
    await expect(control.hold('one more')).rejects.toMatchObject({ code: 'PIPELINE_CONTROL' });
    expect((await control.release('k7')).changed).toBe(true);
    expect((await control.hold('one more')).changed).toBe(true);
  });
});

describe('pausing a pipeline', () => {
  it('starts no handler, lets those end that run, is told as the reason, and goes on when it is resumed', async () => {
    const world = await new ControlWorld().start();
    const { control } = world.pipeline;
    const slow = world.slowDown('1');
    world.stream.give(events('ab'));
    await world.untilSeen('1', '2');
    expect(await control.pause({ by: 'ann' })).toMatchObject({ changed: true, here: true });
    expect(await control.pause({ by: 'bob' })).toMatchObject({ changed: false, paused: { by: 'ann' } });
    slow.open();
    world.stream.give(events('cab', 3), 6);
    await until('all is admitted', () => world.pipeline.status().unsettled === 3);
    expect(world.pipeline.status()).toMatchObject({ paused: 'operator', running: 0 });
    expect(world.seen).toEqual(['1', '2']);
    expect(await control.resume()).toMatchObject({ changed: true, was: { by: 'ann' } });
    expect(await control.resume()).toMatchObject({ changed: false, was: null });
    await world.untilSettled(6);
    expect(world.pipeline.status().paused).toBeNull();
    await world.pipeline.stop();
  });

  it('reads the log no further than the window takes, and can be stopped while it is paused', async () => {
    const world = await new ControlWorld(null, { window: { events: 4 } }).start();
    await world.pipeline.control.pause();
    world.stream.give(events('abcdefgh'));
    await until('the window is full', () => world.pipeline.status().unsettled === 4);
    await turn();
    expect(world.pipeline.status()).toMatchObject({ unsettled: 4, paused: 'operator' });
    await world.pipeline.stop();
    expect([world.seen, world.pipeline.status().state]).toEqual([[], 'stopped']);
  });
});

describe('what was ordered before', () => {
  it('holds when the next owner starts, before its first handler, and who ordered it is known', async () => {
    const store = new FakeStore();
    store.controls.controls = ordered({ held: [{ key: 'a', ...order }] });
    const world = await new ControlWorld(null, {}, store).start();
    world.stream.give(events('ab'));
    await world.untilSeen('2');
    await turn();
    expect(world.seen).toEqual(['2']);
    expect((await world.pipeline.key('a')).held).toEqual({ key: 'a', ...order });
    await world.pipeline.stop();
  });

  it('is waited for: a store that can not tell keeps the pipeline from starting', async () => {
    const world = new ControlWorld();
    world.store.controls.before = () => Promise.reject(away);
    await expect(world.pipeline.start()).rejects.toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    expect(world.stream.closed).toBe(1);
  });

  it('does not concern a key of another pipeline: orders from elsewhere reach the owner by a look', async () => {
    const world = await new ControlWorld().start();
    const elsewhere = new ControlWorld(null, {}, world.store);
    expect(await elsewhere.pipeline.control.hold('a')).toMatchObject({ changed: true, here: false });
    await until('the owner knows', () => world.kept.said('an operator holds this key').length === 1);
    world.stream.give(events('ab'));
    await world.untilSeen('2');
    expect(world.seen).toEqual(['2']);
    await elsewhere.pipeline.control.release('a');
    await world.untilSeen('1');
    await elsewhere.pipeline.stop();
    await world.pipeline.stop();
  });

  it('goes on to hold while the store is away, and is said once', async () => {
    const world = await new ControlWorld().start();
    await world.pipeline.control.hold('a');
    world.store.controls.before = () => Promise.reject(away);
    await until('it is noticed', () => world.kept.said('can not be looked at').length === 1);
    world.stream.give(events('ab'));
    await world.untilSeen('2');
    expect(world.seen).toEqual(['2']);
    expect((await world.pipeline.key('a')).held?.key).toBe('a');
    await expect(world.pipeline.control.release('a')).rejects.toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    world.store.controls.before = () => Promise.resolve();
    await until('it is back', () => world.kept.said('can be looked at again').length === 1);
    await world.pipeline.stop();
  });

  it('is written anew by the owner when the store has lost it', async () => {
    const world = await new ControlWorld().start();
    await world.pipeline.control.hold('a', { by: 'ann' });
    await world.pipeline.control.hold('b');
    world.store.controls.controls = NO_CONTROLS;
    await until('it is there again', () => world.store.controls.controls.held.length === 2);
    expect(world.store.controls.controls).toMatchObject({ revision: 1, held: [{ by: 'ann' }, {}] });
    expect(world.kept.said('had lost what operators have ordered')).toHaveLength(1);
    await world.pipeline.stop();
  });

  it.each([1, 2])(
    'is written anew with what was ordered since the store had lost it, revision %i',
    async (revision) => {
      const world = await new ControlWorld().start();
      await world.pipeline.control.hold('a', { by: 'ann' });
      await world.pipeline.control.hold('b');
      const since = { key: 'c', by: 'bob', at: new Date().toISOString(), note: '' };
      // Of three orders, and of none that is newer than the second.
      world.store.controls.controls = { revision: revision - 1, paused: null, held: [since] };
      await until('it is there again', () => world.store.controls.controls.held.length === 3);
      expect(world.store.controls.controls.held.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
      world.stream.give(events('abcd'));
      await world.untilSeen('4');
      expect(world.seen).toEqual(['4']);
      await world.pipeline.stop();
    },
  );

  it('ends the pipeline when nobody can tell any more what it was', async () => {
    const world = await new ControlWorld().start();
    world.store.controls.before = () => Promise.reject(corrupt);
    await expect(world.pipeline.finished).rejects.toMatchObject({ code: 'OFFSETS_CORRUPT' });
  });

  it('is not looked for once the pipeline has stopped', async () => {
    const world = await new ControlWorld().start();
    await world.pipeline.stop();
    const { looks } = world.store.controls;
    expect(await world.pipeline.control.hold('a')).toMatchObject({ here: false });
    expect(world.store.controls.looks).toBe(looks);
  });
});

describe('letters of a held key', () => {
  it('wait, though somebody has released them, as those of a paused pipeline do', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters).start();
    world.hopeless.add('1');
    world.stream.give(events('aab'), 4);
    await world.untilSettled(4);
    await world.pipeline.control.hold('a');
    world.hopeless.clear();
    letters.releasedKeys.add('a');
    world.seen.length = 0;
    // It polls every ten milliseconds.
    const polled = letters.polls;
    await until('it was looked at', () => letters.polls > polled + 3);
    expect(world.seen).toEqual([]);
    await world.pipeline.control.pause();
    await world.pipeline.control.release('a');
    const again = letters.polls;
    world.stream.give(events('c', 5), 6);
    await until('c is admitted', () => world.pipeline.status().unsettled === 1);
    expect([world.seen, letters.polls]).toEqual([[], again]);
    await world.pipeline.control.resume();
    await world.untilSeen('1', '2', '5');
    expect(world.seen.filter((id) => id !== '5')).toEqual(['1', '2']);
    await world.pipeline.stop();
  });

  it('stop between two letters when the key is held meanwhile', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters, {}, new FakeStore(), offsetAt(0)).start();
    world.hopeless.add('1');
    world.stream.give(events('aa'), 3);
    await world.untilSettled(3);
    world.hopeless.clear();
    const slow = world.slowDown('1');
    world.seen.length = 0;
    letters.releasedKeys.add('a');
    await world.untilSeen('1');
    await world.pipeline.control.hold('a');
    slow.open();
    await until('the first one is noted', () => letters.idsWaiting('a').length === 1);
    const polled = letters.polls;
    await until('it was looked at', () => letters.polls > polled + 3);
    expect(world.seen).toEqual(['1']);
    await world.pipeline.control.release('a');
    await world.untilSeen('2');
    await world.pipeline.stop();
  });
});
