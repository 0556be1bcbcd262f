import { StrandlineError, type Offset } from '@strandline/core';
import type { BookmarkDesk, BookmarkView, OffsetDesk, OffsetMove, OffsetView } from '@strandline/pipeline';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { create, list, remove, show as showBookmark } from '../../src/bookmarks/answers.js';
import { change } from '../../src/offsets/change.js';
import { show } from '../../src/offsets/show.js';
import type { Streams } from '../../src/streams.js';

const offset: Offset = {
  identity: { source: 'postgres', slot: 'shop' },
  watermark: '0/20:0',
  completed: [{ first: '0/30:1', last: '0/30:2' }],
  ...{ epoch: 3, revision: 7, savedAt: '2026-01-01T00:00:00.000Z' },
};

const log = { head: '0/40:0', earliest: '0/10:0', bytesBehind: 3_565_158, reachable: true };
const view: OffsetView = { offset, replaced: null, log, trouble: null };
const bookmark: BookmarkView = {
  ...{ name: 'deploy', position: '0/20:0', identity: { slot: 'shop' } },
  ...{ committedAt: null, createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ bytes: 3 * 1_024, reachable: true },
};

/** Streams of a terminal on which somebody types; without `typed` there is no terminal. */
function terminal(typed?: string): { streams: Streams; wrote: { stdout: string; stderr: string } } {
  const wrote = { stdout: '', stderr: '' };
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  stdin.end(typed ?? '');
  const output = (name: 'stdout' | 'stderr') => {
    const stream = new PassThrough();
    stream.on('data', (text: Buffer) => (wrote[name] += text.toString()));
    return stream;
  };
  return { streams: { stdin, stdout: output('stdout'), stderr: output('stderr') }, wrote };
}

function at(typed?: string, shown: OffsetView = view) {
  const { streams, wrote } = terminal(typed);
  const desk = { show: () => Promise.resolve(shown) } as unknown as OffsetDesk;
  return { at: { pipeline: 'orders', desk, streams }, wrote };
}

describe('offsets show', () => {
  test('tells where it stands, and how far the log reaches', async () => {
    const { at: here, wrote } = at();
    await show(here, {});
    expect(wrote.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['pipeline', 'orders'],
      ['watermark', '0/20:0'],
      ['settled above', '1 run'],
      ['epoch', '3'],
      ['saved at', '2026-01-01T00:00:00.000Z'],
      ['source', 'postgres'],
      ['slot', 'shop'],
      ['log ends at', '0/40:0'],
      ['log begins after', '0/10:0'],
      ['behind', '3.4 MiB'],
      ['can be read on', 'yes'],
      [''],
    ]);
  });

  test('tells what an undo puts back, and what is wrong with the log', async () => {
    const trouble = new StrandlineError('PG_UNREACHABLE', 'It is away.', 'Start it.');
    const replaced = { offset: { ...offset, watermark: '0/1:0' }, replacedAt: '2026-01-02T00:00:00.000Z' };
    const { at: here, wrote } = at(undefined, { offset: null, replaced, log: null, trouble });
    await show(here, {});
    expect(wrote.stdout).toContain('none: it never ran, or was reset\n');
    expect(wrote.stdout).toContain("can't be looked at: It is away.");
    expect(wrote.stdout).toMatch(/before the last change +0\/1:0\n/);
    await show({ ...here }, { json: true });
    const [answer = ''] = wrote.stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(JSON.parse(answer)).toMatchObject({
      ...{ pipeline: 'orders', offset: null, log: null },
      trouble: { code: 'PG_UNREACHABLE', remedy: 'Start it.' },
    });
  });
});

const MOVES: readonly (readonly [OffsetMove, string, string])[] = [
  [
    { from: '0/20:0', to: '0/10:0', direction: 'back', bytes: 2_048 },
    'from 0/20:0 to 0/10:0? What lies between is delivered again, 2.0 KiB of log.',
    'orders: 0/20:0 → 0/10:0\nWhat lies between is delivered again, 2.0 KiB of log.\n',
  ],
  [
    { from: '0/20:0', to: '0/30:0', direction: 'forward', bytes: null },
    'What lies between and was not handled is skipped, the log.',
    'orders: 0/20:0 → 0/30:0\n',
  ],
  [
    { from: '0/20:0', to: null, direction: null, bytes: null },
    'to no offset? It begins like a pipeline that never ran.',
    'orders: 0/20:0 → no offset\n',
  ],
  [
    { from: null, to: '0/10:0', direction: null, bytes: null },
    'from no offset to 0/10:0? What lies after it is delivered.',
    'orders: no offset → 0/10:0\n',
  ],
  [
    { from: 'x\u001b[2J', to: '0/10:0', direction: null, bytes: null },
    "can't be told: the two can't be compared.",
    'orders: x\\u001b[2J → 0/10:0\n',
  ],
];

describe.each(MOVES)('a change %j', (move, asked, answered) => {
  const done: OffsetMove[] = [];
  const work = async (review: (planned: OffsetMove) => unknown): Promise<OffsetMove> => {
    done.length = 0;
    await review(move);
    done.push(move);
    return move;
  };

  test('is asked for with what it does, on stderr, and then told', async () => {
    const { at: here, wrote } = at('yes\n');
    await change(here, {}, work);
    expect(wrote.stderr).toContain(asked);
    expect(wrote.stderr).toContain('Type yes to go on: ');
    expect(wrote.stdout).toContain(answered);
    expect(wrote.stdout).not.toContain('\u001b');
  });

  test.each(['no\n', '', '\n'])('is not done at %j', async (typed) => {
    const { at: here, wrote } = at(typed);
    await expect(change(here, {}, work)).rejects.toMatchObject({ code: 'CLI_CANCELLED' });
    expect(done).toEqual([]);
    expect(wrote.stdout).toBe('');
  });

  test('is done with --yes, and told in JSON', async () => {
    const { at: here, wrote } = at();
    await change(here, { yes: true, json: true }, work);
    expect(wrote.stderr).toBe('');
    expect(JSON.parse(wrote.stdout)).toEqual({ pipeline: 'orders', ...move });
  });
});

describe('bookmark', () => {
  const bookmarksAt = (typed?: string, found: readonly BookmarkView[] = [bookmark]) => {
    const { streams, wrote } = terminal(typed);
    const asked: unknown[] = [];
    const desk: BookmarkDesk = {
      create: (name, place) => {
        asked.push(['create', name, place]);
        return Promise.resolve({ ...bookmark, name });
      },
      list: () => Promise.resolve(found),
      show: (name) => Promise.resolve(found.find((one) => one.name === name) ?? null),
      delete: (name) => {
        asked.push(['delete', name]);
        return Promise.resolve(found.some((one) => one.name === name));
      },
    };
    return { at: { pipeline: 'orders', desk, streams }, asked, wrote };
  };

  test('create tells the position', async () => {
    const { at: here, asked, wrote } = bookmarksAt();
    await create(here, 'v2', { at: { time: '2026-01-01T00:00:00Z' } });
    await create(here, 'v3', { json: true });
    expect(asked).toEqual([
      ['create', 'v2', { time: '2026-01-01T00:00:00Z' }],
      ['create', 'v3', undefined],
    ]);
    const [text = '', answer = ''] = wrote.stdout.split('\n');
    expect(text).toBe('v2 is 0/20:0 of orders');
    expect(JSON.parse(answer)).toEqual({ pipeline: 'orders', bookmark: { ...bookmark, name: 'v3' } });
  });

  test('list and show tell what there is', async () => {
    const { at: here, wrote } = bookmarksAt();
    await list(here, {});
    expect(wrote.stdout).toMatch(
      /^NAME +CREATED AT +LOG BEHIND +POSITION\ndeploy +2026\S+ +3.0 KiB +0\/20:0\norders: 1 bookmark\n$/,
    );
    for (const [reach, text] of [
      [{ reachable: false }, 'gone'],
      [{ bytes: null, reachable: null }, '?'],
    ] as const) {
      const other = bookmarksAt(undefined, [{ ...bookmark, ...reach }]);
      await list(other.at, {});
      expect(other.wrote.stdout.split(/\s{2,}|\n/)).toContain(text);
    }
    wrote.stdout = '';
    await list(bookmarksAt(undefined, []).at, {});
    await showBookmark(here, 'deploy', {});
    expect(wrote.stdout).toMatch(/position +0\/20:0\ncreated at +2026\S+\nlog behind +3.0 KiB\nslot +shop\n/);
    await expect(showBookmark(here, 'gone', {})).rejects.toMatchObject({ code: 'CLI_NOTHING_FOUND' });
  });

  test('delete asks, and does it at yes only', async () => {
    const no = bookmarksAt('no\n');
    await expect(remove(no.at, 'deploy', {})).rejects.toMatchObject({ code: 'CLI_CANCELLED' });
    expect(no.asked).toEqual([]);
    const yes = bookmarksAt('yes\n');
    await remove(yes.at, 'deploy', {});
    expect(yes.wrote.stdout).toBe('deploy of orders deleted\n');
    await expect(remove(yes.at, 'gone', { yes: true })).rejects.toMatchObject({ code: 'CLI_NOTHING_FOUND' });
  });
});
