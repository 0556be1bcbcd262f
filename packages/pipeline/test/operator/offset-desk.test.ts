import { StrandlineError, type InstanceReport } from '@strandline/core';
import { describe, expect, it, test } from 'vitest';
import type { OffsetDesk } from '../../src/operator/offset-desk.js';
import { offsetAt, position } from '../fixtures.js';
import { deskWorld, IDENTITY } from './desk-world.js';

const run = (first: number, last = first) => ({ first: position(first), last: position(last) });

function instance(state: string): InstanceReport {
  const at = '2026-01-01T00:00:00.000Z';
  return { id: 'x', host: 'shop-1', pid: 77, state, epoch: 1, startedAt: at, reportedAt: at, details: null };
}

const EXPORTED = JSON.stringify({
  ...{ format: 'strandline-offset', version: 1, pipeline: 'shop', exportedAt: '2026-01-01T00:00:00.000Z' },
  ...{ identity: IDENTITY, watermark: position(30), completed: [run(33)] },
});

const CHANGES: readonly (readonly [
  string,
  (desk: OffsetDesk, review?: () => unknown) => Promise<unknown>,
])[] = [
  ['set', (desk, review) => desk.set({ position: position(20) }, review)],
  ['reset', (desk, review) => desk.reset(review)],
  ['undo', (desk, review) => desk.undo(review)],
  ['import', (desk, review) => desk.import(EXPORTED, review)],
];

describe('the offset of a pipeline is shown', () => {
  it('with how far the log reaches, and what an undo would put back', async () => {
    const { pipeline, store } = deskWorld(offsetAt(50));
    expect(await pipeline.offset.show()).toEqual({
      offset: offsetAt(50),
      replaced: null,
      log: { head: 'p100', earliest: 'p10', bytesBehind: 500, reachable: true },
      trouble: null,
    });
    store.wasReplaced = { offset: null, replacedAt: '2026-01-01T00:00:00.000Z' };
    expect((await pipeline.offset.show()).replaced).toBe(store.wasReplaced);
  });

  test.each([
    ['behind the log', offsetAt(9), 10, false],
    ['at its start', offsetAt(10), 10, true],
    ['at its end', offsetAt(100), 10, true],
    ['ahead of it', offsetAt(101), 10, false],
    ['in a log of which nothing can be read', offsetAt(50), null, false],
    ['in another log', offsetAt(50, { watermark: 'file;4' }), 10, null],
    ['nowhere', null, 10, null],
  ])('%s', async (_, offset, earliest, reachable) => {
    const { pipeline, source } = deskWorld(offset);
    source.earliest = earliest;
    expect((await pipeline.offset.show()).log?.reachable).toBe(reachable);
  });

  it('also when the log is away', async () => {
    const { pipeline, source } = deskWorld(offsetAt(50));
    source.trouble = new StrandlineError('LOG_AWAY', 'It is away.', 'Start it.');
    expect(await pipeline.offset.show()).toMatchObject({ log: null, trouble: { code: 'LOG_AWAY' } });
  });
});

describe('set', () => {
  it('back has everything after it delivered again, whatever was handled above', async () => {
    const { pipeline, store } = deskWorld(offsetAt(50, { completed: [run(60, 70)] }));
    const move = await pipeline.offset.set({ position: position(20) });
    expect(move).toEqual({ from: 'p50', to: 'p20', direction: 'back', bytes: 300 });
    expect(store.saved).toMatchObject({ watermark: 'p20', completed: [], identity: IDENTITY });
  });

  it('forward skips what lies between, and has nothing delivered again that was handled', async () => {
    const { pipeline, store } = deskWorld(offsetAt(50, { completed: [run(52), run(60, 70), run(80)] }));
    const move = await pipeline.offset.set({ position: position(65) });
    expect(move).toEqual({ from: 'p50', to: 'p65', direction: 'forward', bytes: 150 });
    expect(store.saved).toMatchObject({ watermark: 'p65', completed: [run(60, 70), run(80)] });
  });

  it('to where it stands changes nothing', async () => {
    const { pipeline, store } = deskWorld(offsetAt(50, { completed: [run(60)] }));
    const move = await pipeline.offset.set({ position: position(50) });
    expect(move).toMatchObject({ direction: 'none', bytes: 0 });
    expect(store.saved).toMatchObject({ watermark: 'p50', completed: [run(60)] });
  });

  it('where there is none, or one of another log, begins there', async () => {
    for (const saved of [null, offsetAt(1, { watermark: 'file;4', completed: [run(60)] })]) {
      const { pipeline, store } = deskWorld(saved);
      const move = await pipeline.offset.set({ position: position(50) });
      expect(move).toEqual({ from: saved?.watermark ?? null, to: 'p50', direction: null, bytes: null });
      expect(store.saved).toMatchObject({ watermark: 'p50', completed: [] });
    }
  });

  it.each([
    ['earliest', 'p10'],
    ['now', 'p100'],
    [{ time: '2026-01-31T12:00:00+01:00' }, 'p40'],
    [{ bookmark: 'deploy' }, 'p30'],
  ] as const)('to %j', async (place, expected) => {
    const { pipeline, store, source } = deskWorld(offsetAt(50));
    const createdAt = '2026-01-01T00:00:00.000Z';
    const bookmark = { name: 'deploy', position: 'p30', identity: { ...IDENTITY, timeline: '1' } };
    store.marks.set('deploy', { ...bookmark, committedAt: null, createdAt });
    await pipeline.offset.set(place);
    expect(store.saved?.watermark).toBe(expected);
    expect(source.openReaders).toBe(0);
    if (typeof place === 'object' && 'time' in place)
      expect(source.asked).toEqual([{ time: '2026-01-31T11:00:00.000000Z' }]);
    if (typeof place === 'object' && 'bookmark' in place)
      expect(source.asked).toEqual([{ after: 'p30', identity: bookmark.identity }]);
  });

  it.each([
    ['behind the log', { position: position(9) }, 'PIPELINE_POSITION', 'begins after p10'],
    ['ahead of it', { position: position(101) }, 'PIPELINE_POSITION', 'ends at p100'],
    ['of another kind of log', { position: 'file;4' }, 'LOG_POSITION', ''],
    ['a time without its zone', { time: '2026-01-31T12:00:00' }, 'PIPELINE_POSITION', 'zone'],
    ['no bookmark', { bookmark: 'nowhere' }, 'REPLAY_BOOKMARK', 'nowhere'],
    ['a bookmark of another log', { bookmark: 'foreign' }, 'LOG_FOREIGN', ''],
  ])('%s is refused', async (_, place, code, says) => {
    const { pipeline, store } = deskWorld(offsetAt(50));
    store.marks.set('foreign', {
      ...{ name: 'foreign', position: 'p30', identity: { system: '9' } },
      ...{ committedAt: null, createdAt: '2026-01-01T00:00:00.000Z' },
    });
    const error: unknown = await pipeline.offset.set(place).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, message: expect.stringContaining(says) as unknown });
    expect(store.saved).toEqual(offsetAt(50));
  });

  it('is refused where nothing of the log can be read', async () => {
    const { pipeline, source } = deskWorld(offsetAt(50));
    source.earliest = null;
    for (const place of ['earliest', { position: position(50) }] as const)
      await expect(pipeline.offset.set(place)).rejects.toMatchObject({ code: 'PIPELINE_POSITION' });
  });
});

describe('reset, undo, export and import', () => {
  it('reset forgets the offset, and undo puts it back, and undoes that', async () => {
    const before = offsetAt(50, { completed: [run(60)] });
    const { pipeline, store } = deskWorld(before);
    expect(await pipeline.offset.reset()).toEqual({ from: 'p50', to: null, direction: null, bytes: null });
    expect(store.saved).toBeNull();
    expect(await pipeline.offset.undo()).toMatchObject({ from: null, to: 'p50' });
    expect(store.saved).toMatchObject({ watermark: 'p50', completed: [run(60)], identity: before.identity });
    expect(await pipeline.offset.undo()).toMatchObject({ from: 'p50', to: null });
    expect(store.saved).toBeNull();
  });

  it('undo is refused when the log no longer reaches back so far', async () => {
    const { pipeline, source, store } = deskWorld(offsetAt(20));
    await pipeline.offset.set('now');
    source.earliest = 30;
    await expect(pipeline.offset.undo()).rejects.toMatchObject({ code: 'PIPELINE_POSITION' });
    expect(store.saved?.watermark).toBe('p100');
  });

  it('what was exported can be imported, runs included', async () => {
    const { pipeline, store } = deskWorld(offsetAt(50, { completed: [run(60, 70)] }));
    const text = await pipeline.offset.export();
    await pipeline.offset.set('earliest');
    expect(await pipeline.offset.import(text)).toEqual({
      ...{ from: 'p10', to: 'p50', direction: 'forward', bytes: 400 },
    });
    expect(store.saved).toMatchObject({ watermark: 'p50', completed: [run(60, 70)], identity: IDENTITY });
  });

  it.each([
    ['no JSON', '{"format', 'no JSON'],
    ['something else', '{"format": "strandline-letter"}', '(format)'],
    ['a newer version', EXPORTED.replace('"version":1', '"version":2'), '(version)'],
    ['cut short', EXPORTED.replace('"watermark":"p30",', ''), '(watermark)'],
    ['of another pipeline', EXPORTED.replace('"shop"', '"mails"'), '"mails"'],
  ])('a text that is %s is not imported', async (_, text, says) => {
    const { pipeline, store } = deskWorld(null);
    const error: unknown = await pipeline.offset.import(text).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'PIPELINE_IMPORT',
      message: expect.stringContaining(says) as unknown,
    });
    expect(store.saved).toBeNull();
  });

  it('an offset of another log is not imported', async () => {
    const { pipeline } = deskWorld(null);
    const text = EXPORTED.replace('7301', '9');
    await expect(pipeline.offset.import(text)).rejects.toMatchObject({ code: 'LOG_FOREIGN' });
  });

  it('where there is nothing, there is nothing to reset, undo or export', async () => {
    const { pipeline } = deskWorld(null);
    for (const attempt of [pipeline.offset.reset(), pipeline.offset.undo(), pipeline.offset.export()])
      await expect(attempt).rejects.toMatchObject({ code: 'PIPELINE_NO_OFFSET' });
  });
});

describe.each(CHANGES)('%s', (_, change) => {
  const world = () => {
    const made = deskWorld(offsetAt(50));
    made.store.wasReplaced = { offset: offsetAt(40), replacedAt: '2026-01-01T00:00:00.000Z' };
    return made;
  };

  it.each(['running', 'standby', 'starting', 'stopping'])(
    'is refused while a process is %s',
    async (state) => {
      const { pipeline, store } = world();
      store.instances.reports.push(instance('failed'), instance(state));
      const error: unknown = await change(pipeline.offset).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'PIPELINE_RUNNING' });
      expect((error as Error).message).toContain(`process 77 on shop-1 (${state})`);
      expect(store.saved).toEqual(offsetAt(50));
    },
  );

  it('is done beside processes that have failed', async () => {
    const { pipeline, store } = world();
    store.instances.reports.push(instance('failed'));
    await change(pipeline.offset);
    expect(store.saved?.watermark).not.toBe('p50');
  });

  it('is told before it is done, and not done when that throws', async () => {
    const { pipeline, store } = world();
    const told: unknown[] = [];
    const review = (move?: unknown): void => {
      told.push(move);
      throw new Error('no');
    };
    await expect(change(pipeline.offset, review)).rejects.toThrow('no');
    expect(told).toMatchObject([{ from: 'p50' }]);
    expect(store.saved).toEqual(offsetAt(50));
  });

  it('is not done when the pipeline was started while somebody thought about it', async () => {
    const { pipeline, store } = world();
    const review = (): void => void store.instances.reports.push(instance('running'));
    await expect(change(pipeline.offset, review)).rejects.toMatchObject({ code: 'PIPELINE_RUNNING' });
    expect(store.saved).toEqual(offsetAt(50));
  });

  it('is not done over a change of somebody else', async () => {
    const { pipeline, store } = world();
    store.before = () => {
      store.saved = offsetAt(51);
    };
    await expect(change(pipeline.offset)).rejects.toMatchObject({ code: 'PIPELINE_OFFSET_MOVED' });
    expect(store.saved).toEqual(offsetAt(51));
  });

  it('is refused while the pipeline starts in this process', async () => {
    const { pipeline, source } = world();
    source.open = () => new Promise<never>(() => undefined);
    void pipeline.start();
    await expect(change(pipeline.offset)).rejects.toMatchObject({ code: 'PIPELINE_RUNNING' });
  });
});
