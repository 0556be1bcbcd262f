import { describe, expect, it } from 'vitest';
import { FakeLetters } from '../fake-letters.js';
import { STEADY, turn, until } from '../fixtures.js';
import { ControlWorld, events } from './control-world.js';

/** So long that nothing comes by itself. */
const NEVER = { ...STEADY, initialDelay: 3_600_000, maxDelay: 3_600_000 };

describe('retry', () => {
  it('has a head in backoff tried at once, as its next attempt', async () => {
    const world = await new ControlWorld(null, { retry: NEVER }).start();
    world.bad.add('1');
    world.stream.give(events('aa'), 3);
    await world.untilState('a', 'backoff');
    world.bad.clear();
    const { control } = world.pipeline;
    expect(await control.retry('a')).toEqual({ key: 'a', position: 'p1', outcome: 'done' });
    await world.untilSettled(3);
    await expect(control.retry('a')).rejects.toMatchObject({ code: 'PIPELINE_KEY_UNKNOWN' });
    await world.pipeline.stop();
  });

  it('has a halted head tried anew without a restart, with all its attempts', async () => {
    const world = await new ControlWorld(null, { retry: { ...STEADY, attempts: 2 } }).start();
    world.bad.add('1');
    world.stream.give(events('aa'), 3);
    await world.untilState('a', 'halted');
    expect(world.seen).toEqual(['1', '1']);
    await world.pipeline.control.retry('a');
    await until('it has failed twice more', () => world.seen.length === 4);
    await world.untilState('a', 'halted');
    world.bad.clear();
    await world.pipeline.control.retry('a', { position: 'p1' });
    await world.untilSettled(3);
    await world.pipeline.stop();
  });

  it('says why nothing is to be retried', async () => {
    const world = await new ControlWorld(null, { retry: NEVER }).start();
    const { control } = world.pipeline;
    const slow = world.slowDown('1');
    world.bad.add('2');
    world.stream.give(events('ab'));
    await world.untilState('b', 'backoff');
    for (const [key, message] of [
      ['a', 'running'],
      ['c', 'no live events'],
    ] as const)
      await expect(control.retry(key)).rejects.toThrow(message);
    await expect(control.retry('b', { position: 'p9' })).rejects.toMatchObject({
      code: 'PIPELINE_KEY_UNKNOWN',
    });
    await control.hold('b');
    await expect(control.retry('b')).rejects.toMatchObject({ code: 'PIPELINE_KEY_STATE' });
    slow.open();
    await world.pipeline.stop();
  });

  it('is for the process that works on the pipeline, and says which one that is', async () => {
    const world = await new ControlWorld().start();
    await until('it has said so', () => world.store.instances.states.includes('running'));
    const elsewhere = new ControlWorld(null, {}, world.store);
    const refused = elsewhere.pipeline.control.retry('a');
    await expect(refused).rejects.toMatchObject({ code: 'PIPELINE_NOT_OWNER' });
    await expect(refused).rejects.toThrow(`process ${String(process.pid)}`);
    await expect(elsewhere.pipeline.strands()).rejects.toMatchObject({ code: 'PIPELINE_NOT_OWNER' });
    await elsewhere.pipeline.stop();
    await world.pipeline.stop();
  });
});

describe('park', () => {
  it.each(['backoff', 'held', 'halted'] as const)('stores a key that is %s, in order', async (state) => {
    const letters = new FakeLetters();
    const onFailure = state === 'halted' ? 'halt' : 'park';
    const world = await new ControlWorld(letters, { retry: NEVER, onFailure }).start();
    const { control } = world.pipeline;
    if (state === 'held') await control.hold('a');
    world.bad.add('1');
    if (state === 'halted') world.hopeless.add('1');
    world.stream.give(events('aaba'));
    await world.untilState('a', state);
    expect(await control.park('a')).toEqual({ key: 'a', position: 'p1', outcome: 'done' });
    world.stream.give(events('ab', 5), 7);
    await world.untilSettled(7);
    expect(letters.idsWaiting('a')).toEqual(['1', '2', '4', '5']);
    const [head, next] = letters.waiting('a');
    expect([head?.reason, next?.reason]).toEqual(['operator', 'behind']);
    expect(head?.failure?.attempts ?? null).toBe(state === 'held' ? null : 1);
    expect(world.pipeline.status()).toMatchObject({ parked: 1, halted: 0, held: 0, backoff: 0 });
    await expect(control.park('a')).rejects.toMatchObject({ code: 'PIPELINE_KEY_STATE' });
    await world.pipeline.stop();
  });

  it('of a key that waits for its turn keeps it from running', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters, { concurrency: 1 }).start();
    const slow = world.slowDown('1');
    world.stream.give(events('abb'), 4);
    await world.untilState('b', 'ready');
    await world.pipeline.control.park('b');
    slow.open();
    await world.untilSettled(4);
    expect([world.seen, letters.idsWaiting('b')]).toEqual([['1'], ['2', '3']]);
    expect(letters.retryAts).toEqual([null]);
    await world.pipeline.stop();
  });

  it('waits for a handler that runs, and then parks what follows', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters).start();
    const slow = world.slowDown('1');
    world.stream.give(events('aab'), 4);
    await world.untilSeen('1', '3');
    const parking = world.pipeline.control.park('a');
    await turn();
    slow.open();
    expect(await parking).toMatchObject({ position: 'p2', outcome: 'done' });
    await world.untilSettled(4);
    expect([world.seen, letters.idsWaiting('a')]).toEqual([['1', '3'], ['2']]);
    await world.pipeline.stop();
  });

  it('says so when the handler does not end in time, and changes nothing', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters).start();
    const slow = world.slowDown('1');
    world.stream.give(events('aa'), 3);
    await world.untilSeen('1');
    await expect(world.pipeline.control.park('a', { wait: 5 })).rejects.toMatchObject({
      code: 'PIPELINE_KEY_BUSY',
    });
    slow.open();
    await world.untilSettled(3);
    expect(letters.letters).toEqual([]);
    await world.pipeline.stop();
  });

  it('says that it is under way while the table is away: the key holds meanwhile', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters).start();
    await world.pipeline.control.hold('a');
    world.stream.give(events('aa'), 3);
    await world.untilState('a', 'held');
    letters.away = true;
    const { control } = world.pipeline;
    expect(await control.park('a', { wait: 5 })).toMatchObject({ outcome: 'under way' });
    await expect(control.skip('a')).rejects.toMatchObject({ code: 'PIPELINE_KEY_STATE' });
    await control.release('a');
    letters.away = false;
    await world.untilSettled(3);
    expect([world.seen, letters.idsWaiting('a')]).toEqual([[], ['1', '2']]);
    await world.pipeline.stop();
  });

  it('finds no room: the key is as it was, with all its events', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters, { retry: NEVER }).start();
    world.bad.add('1');
    letters.refuses = '1';
    world.stream.give(events('aa'), 3);
    await world.untilState('a', 'backoff');
    const { control } = world.pipeline;
    await control.hold('a');
    for (const attempt of [() => control.park('a'), () => control.skip('a'), () => control.park('a')])
      await expect(attempt()).rejects.toMatchObject({ code: expect.stringMatching(/LETTERS/) as string });
    expect(world.pipeline.status()).toMatchObject({ held: 1, halted: 0, parked: 0 });
    world.bad.clear();
    await control.release('a');
    await world.untilSettled(3);
    expect(world.seen).toEqual(['1', '1', '2']);
    await world.pipeline.stop();
  });

  it('of what halted for want of room goes through when there is room, and so does a retry', async () => {
    for (const how of ['park', 'retry', 'skip'] as const) {
      const letters = new FakeLetters();
      const world = await new ControlWorld(letters).start();
      world.hopeless.add('1');
      letters.refuses = '1';
      world.stream.give(events('aa'));
      await world.untilState('a', 'halted');
      world.stream.give(events('a', 3), 4);
      await until('the third is here', () => world.pipeline.status().unsettled === 3);
      letters.refuses = null;
      world.hopeless.clear();
      expect(await world.pipeline.control[how]('a')).toMatchObject({ position: 'p1', outcome: 'done' });
      await world.untilSettled(4);
      const parked = { park: ['1', '2', '3'], retry: [], skip: [] }[how];
      const seen = { park: ['1'], retry: ['1', '1', '2', '3'], skip: ['1', '2', '3'] }[how];
      expect([letters.idsWaiting('a'), world.seen], how).toEqual([parked, seen]);
      await world.pipeline.stop();
    }
  });

  it('needs a dead-letter table, as skipping does: nothing is lost in silence', async () => {
    const world = await new ControlWorld().start();
    const { control } = world.pipeline;
    await control.hold('a');
    world.stream.give(events('a'), 2);
    await world.untilState('a', 'held');
    await expect(control.park('a')).rejects.toMatchObject({ code: 'PIPELINE_NO_LETTERS' });
    await expect(control.skip('a')).rejects.toMatchObject({ code: 'PIPELINE_NO_LETTERS' });
    await control.release('a');
    await world.untilSettled(2);
    await world.pipeline.stop();
  });
});

describe('skip', () => {
  it('stores the head alone, and the key goes on', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters, { retry: NEVER }).start();
    world.bad.add('1');
    world.stream.give(events('aa'), 3);
    await world.untilState('a', 'backoff');
    expect(await world.pipeline.control.skip('a')).toMatchObject({ position: 'p1', outcome: 'done' });
    await world.untilSettled(3);
    expect(letters.letters).toMatchObject([{ state: 'skipped', reason: 'operator', event: { id: '1' } }]);
    expect(world.seen).toEqual(['1', '2']);
    await world.pipeline.stop();
  });

  it('means the event that runs, and leaves the next one alone when that was handled', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters).start();
    const slow = world.slowDown('1');
    world.stream.give(events('aa'), 3);
    await world.untilSeen('1');
    const skipping = world.pipeline.control.skip('a');
    slow.open();
    await expect(skipping).rejects.toMatchObject({ code: 'PIPELINE_KEY_UNKNOWN' });
    await world.untilSettled(3);
    expect([world.seen, letters.letters]).toEqual([['1', '2'], []]);
    await world.pipeline.stop();
  });

  it('of a held key leaves it held', async () => {
    const letters = new FakeLetters();
    const world = await new ControlWorld(letters).start();
    await world.pipeline.control.hold('a');
    world.stream.give(events('aa'), 3);
    await world.untilState('a', 'held');
    await world.pipeline.control.skip('a', { position: 'p1' });
    expect(world.pipeline.status()).toMatchObject({ held: 1, settled: 1 });
    expect(world.seen).toEqual([]);
    await expect(world.pipeline.control.skip('a', { position: 'p1' })).rejects.toMatchObject({
      code: 'PIPELINE_KEY_UNKNOWN',
    });
    await world.pipeline.stop();
  });
});
