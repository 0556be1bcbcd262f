import { describe, expect, it } from 'vitest';
import { offsetAt } from '../fixtures.js';
import { deskWorld, IDENTITY } from './desk-world.js';

describe('a bookmark', () => {
  it('names the end of the log, of a pipeline that runs or not', async () => {
    const { pipeline } = deskWorld(offsetAt(50));
    const made = await pipeline.bookmark('before-deploy');
    expect(made).toMatchObject({
      name: 'before-deploy',
      position: 'p100',
      identity: IDENTITY,
      committedAt: null,
    });
    expect(new Date(made.createdAt).toISOString()).toBe(made.createdAt);
    expect(await pipeline.bookmarks.show('before-deploy')).toMatchObject(made);
    expect(await pipeline.bookmarks.list()).toMatchObject([{ ...made, bytes: 0, reachable: true }]);
  });

  it.each([
    [{ position: 'p20' }, 'p20'],
    [{ time: '2026-01-31T12:00:00Z' }, 'p40'],
    [{ bookmark: 'first' }, 'p10'],
    ['earliest', 'p10'],
    ['now', 'p100'],
  ] as const)('can be made at %j', async (at, position) => {
    const { pipeline, source } = deskWorld(null);
    await pipeline.bookmarks.create('first', 'earliest');
    expect((await pipeline.bookmarks.create('second', at)).position).toBe(position);
    expect(source.openReaders).toBe(0);
  });

  it('is not made where the log does not reach', async () => {
    const { pipeline } = deskWorld(null);
    for (const position of ['p9', 'p101'])
      await expect(pipeline.bookmarks.create('a', { position })).rejects.toMatchObject({
        code: 'PIPELINE_POSITION',
      });
    expect(await pipeline.bookmarks.list()).toEqual([]);
  });

  it('stays as it is when another one of its name is made', async () => {
    const { pipeline, source } = deskWorld(null);
    const made = await pipeline.bookmark('a');
    source.head = 200;
    expect(await pipeline.bookmarks.show('a')).toMatchObject({ bytes: 1_000, reachable: true });
    await expect(pipeline.bookmark('a')).rejects.toMatchObject({ code: 'PIPELINE_BOOKMARK' });
    expect(await pipeline.bookmarks.show('a')).toMatchObject(made);
  });

  it('can be deleted', async () => {
    const { pipeline } = deskWorld(null);
    await pipeline.bookmark('a');
    expect(await pipeline.bookmarks.delete('a')).toBe(true);
    expect(await pipeline.bookmarks.delete('a')).toBe(false);
    expect(await pipeline.bookmarks.show('a')).toBeNull();
  });

  it.each([
    '',
    ' ',
    'a b',
    'a/b',
    'a:b',
    'störung',
    'a\n',
    'x'.repeat(101),
    'now',
    'earliest',
    '2026-01-31T12',
  ])('has no name like %j', async (name) => {
    const { pipeline } = deskWorld(null);
    await expect(pipeline.bookmark(name)).rejects.toMatchObject({ code: 'PIPELINE_BOOKMARK' });
    expect(await pipeline.bookmarks.show(name)).toBeNull();
    expect(await pipeline.bookmarks.delete(name)).toBe(false);
  });

  it.each(['a', '.', '-', '__proto__', 'v1.2-rc_3', 'x'.repeat(100), '2026-01-31'])(
    'may be called %j',
    async (name) => {
      const { pipeline } = deskWorld(null);
      expect((await pipeline.bookmark(name)).name).toBe(name);
    },
  );
});
