import {
  NO_CONTROLS,
  type Controls,
  type InstanceReport,
  type LogState,
  type Offset,
  type OffsetStore,
  type Source,
} from '@strandline/core';
import type { InstanceDetails } from '@strandline/pipeline';
import { Ansis } from 'ansis';
import { describe, expect, test } from 'vitest';
import { lookAtPipeline } from '../src/status/look.js';
import { reportOf, type StatusReport } from '../src/status/report.js';
import { statusText } from '../src/status/text.js';
import { bytesText, secondsText } from '../src/units.js';
import { createBoard, watch } from '../src/status/watch.js';
import { ScriptedPipeline } from './scripted-pipeline.js';

const details: InstanceDetails = {
  ...{ paused: null, watermark: 'p5', settledBefore: '2026-01-01T00:00:00.000000Z', watermarkAge: 2 },
  ...{ source: { state: 'streaming', lagBytes: 0, reconnects: 0 }, oldest: null, rates: null, error: null },
  ...{
    offsetsAvailable: true,
    lettersAvailable: true,
    suspecting: false,
    unsaved: 0,
    unsettled: 0,
    bytes: 0,
  },
  ...{ strands: 0, running: 0, stuck: 0, backoff: 0, exhausted: 0, halted: 0, held: 0 },
  ...{ parked: 0, full: 0 },
  ...{ releasing: 0, settled: 9, turns: [], failing: [], hot: [], parkedKeys: [], fullKeys: [] },
  partial: false,
  prune: null,
};

const offset: Offset = {
  ...{ identity: {}, watermark: 'p5', completed: [{ first: 'p7', last: 'p8' }], epoch: 3, revision: 40 },
  savedAt: '2026-01-01T00:00:00.000Z',
};

const log: LogState = {
  ...{ identity: {}, head: 'p9', earliest: 'p1', retainedBytes: 8_192 },
  bytesBehind: () => 400,
  compare: () => 0,
};

function instance(id: string, state: string, rest: Partial<InstanceReport> = {}): InstanceReport {
  return {
    ...{ id, host: `host-${id}`, pid: 7, state, epoch: null, details: null },
    ...{ startedAt: '2026-01-01T00:00:00.000Z', reportedAt: '2026-01-01T00:00:05.000Z' },
    ...rest,
  };
}

interface World {
  readonly controls?: Controls;
  readonly offset?: () => Promise<Offset | null>;
  readonly instances?: readonly InstanceReport[];
  readonly log?: () => Promise<LogState>;
}

async function reported(world: World = {}): Promise<StatusReport> {
  const load = world.offset ?? (() => Promise.resolve(offset));
  const pipeline = new ScriptedPipeline('shop', {
    offsets: {
      load,
      instances: { list: async () => (await load(), world.instances ?? []) },
      bookmarks: { list: () => Promise.resolve([]) },
      controls: { load: async () => (await load(), world.controls ?? NO_CONTROLS) },
    } as unknown as OffsetStore,
    source: { inspect: world.log ?? (() => Promise.resolve(log)) } as unknown as Source,
  });
  return reportOf(await lookAtPipeline(pipeline));
}

function text(report: StatusReport): string {
  return statusText(report, new Ansis(0));
}

const away = Object.assign(new Error('Redis is away. Start it.'), {
  code: 'OFFSETS_UNAVAILABLE',
  remedy: 'Start it.',
});

describe('what operators have ordered', () => {
  const order = { by: 'ann@shop-1', at: '2026-01-01T00:00:00.000Z', note: 'the bank has called' };
  const held = Array.from({ length: 12 }, (_, n) => ({ key: `key ${String(n)}`, ...order }));

  test('is named, by whom, since when and why, and needs somebody', async () => {
    const report = await reported({
      instances: [instance('a', 'running', { epoch: 3, details: { ...details, held: 2, strands: 2 } })],
      controls: { revision: 7, paused: order, held },
    });
    expect(report.problems).toEqual([
      'it is paused by ann@shop-1 at 2026-01-01T00:00:00.000Z: the bank has called. strandline resume ends that',
      '12 keys held: what comes of them holds the log. strandline keys release',
    ]);
    expect(report).toMatchObject({ pausedBy: order, heldKeys: { count: 12 } });
    expect(text(report)).toContain('key 9  by ann@shop-1 at 2026-01-01T00:00:00.000Z: the bank has called\n');
    expect(text(report)).toContain('(and 2 more keys: strandline keys list)');
    expect(text(report)).toContain('0 waiting, 0 retrying, 2 held');
  });

  test('is nothing to speak of when there is nothing', async () => {
    const report = await reported({ instances: [instance('a', 'running', { epoch: 3, details })] });
    expect([report.problems, report.pausedBy, report.heldKeys]).toEqual([[], null, { count: 0, first: [] }]);
    expect(text(report)).not.toContain('held');
  });
});

describe('what the owner prunes', () => {
  const prune: NonNullable<typeof details.prune> = {
    ...{
      outbox: 'public.outbox',
      state: 'waiting',
      rowsDeleted: 12_000,
      partitionsDropped: 1,
      candidates: 7,
    },
    ...{ oldest: '2026-01-01T00:00:00.000Z', finishedAt: null, paused: null, error: null },
    heldBack: [{ who: 'pipeline mails', why: 'it has not settled\u001b[31m them' }],
  };
  const shown = async (parts: Partial<typeof prune>): Promise<string> =>
    text(
      await reported({
        instances: [
          instance('a', 'running', { epoch: 3, details: { ...details, prune: { ...prune, ...parts } } }),
        ],
      }),
    );

  test('is told with what holds rows back, and is no problem', async () => {
    const said = await shown({});
    expect(said).toContain(
      'public.outbox: waiting for who has not settled what is old, 12000 rows deleted, 1 partition dropped, ' +
        '7 old rows held back, oldest from 2026-01-01T00:00:00.000Z\n',
    );
    expect(said).toMatch(/held back by:\n +pipeline mails +it has not settled/);
    expect(said).not.toMatch(/\u001b|\n {2}! /);
  });

  test('is told with why it pauses, and what it has failed with', async () => {
    expect(await shown({ state: 'deleting', paused: '40 sessions are at work' })).toContain(
      'public.outbox: deleting, 12000 rows deleted, 1 partition dropped, 7 old rows held back, ' +
        'oldest from 2026-01-01T00:00:00.000Z, pausing: 40 sessions are at work',
    );
    expect(
      await shown({ state: 'failed', error: { code: 'PG_PRIVILEGE', message: 'May not delete.' } }),
    ).toContain('failed: PG_PRIVILEGE: May not delete.');
  });

  test('is not spoken of where nothing is pruned', async () => {
    const report = await reported({ instances: [instance('a', 'running', { epoch: 3, details })] });
    expect(text(report)).not.toContain('prune');
  });
});

describe('who runs a pipeline', () => {
  test('is the one that runs with the newest epoch; others are told apart', async () => {
    const { owner, standbys, others, problems } = await reported({
      instances: [
        instance('c', 'standby', { epoch: 1 }),
        instance('b', 'running', { epoch: 2 }),
        instance('a', 'running', { epoch: 3, details }),
        instance('d', 'starting'),
      ],
    });
    expect(owner?.id).toBe('a');
    expect(standbys.map(({ id }) => id)).toEqual(['c']);
    expect(others.map(({ id }) => id)).toEqual(['b', 'd']);
    expect(problems).toEqual([]);
  });

  test('is nobody when a newer epoch has been claimed than the one that runs has', async () => {
    const { owner, problems } = await reported({ instances: [instance('b', 'running', { epoch: 2 })] });
    expect(owner).toBeNull();
    expect(problems).toEqual(['no process runs it']);
  });

  test('is still the one that drains', async () => {
    const { owner } = await reported({ instances: [instance('a', 'stopping', { epoch: 3, details })] });
    expect(owner?.state).toBe('stopping');
  });

  test('is nobody any more when it has failed, and it says with what', async () => {
    const error = { name: 'PostgresSourceError', code: 'PG_SLOT_LOST', message: 'The slot is gone.' };
    const { problems } = await reported({
      instances: [instance('a', 'failed', { epoch: 3, details: { ...details, error } })],
    });
    expect(problems[0]).toBe(
      'it has failed on host-a (pid 7): PostgresSourceError PG_SLOT_LOST: The slot is gone.',
    );
  });

  test('is known also when its version tells what this one can not read', async () => {
    const report = await reported({
      instances: [instance('a', 'running', { epoch: 3, details: { new: 1 } })],
    });
    expect(report.owner?.details).toBeNull();
    expect(report.problems).toHaveLength(1);
    expect(text(report)).toContain(
      'shop  running on host-a (pid 7) since 2026-01-01T00:00:00.000Z, epoch 3\n',
    );
  });
});

describe('how far it is', () => {
  test('an idle owner that has read all is not behind, whatever else the server has written', async () => {
    const { lag } = await reported({ instances: [instance('a', 'running', { epoch: 3, details })] });
    expect(lag).toEqual({ events: 0, moreEvents: false, bytes: 400, seconds: 0 });
  });

  test('an owner whose window is full knows of so many, and there are more', async () => {
    const busy = {
      ...{ ...details, paused: 'window', unsettled: 10_000 },
      oldest: { key: 'k', id: '1', position: 'p6', age: 75 },
    };
    const report = await reported({ instances: [instance('a', 'running', { epoch: 3, details: busy })] });
    expect(report.lag).toEqual({ events: 10_000, moreEvents: true, bytes: 400, seconds: 75 });
    expect(text(report)).toContain(
      '10000 events or more, 400 B of log, 1 min 15 s, 8.0 KiB kept by the server\n',
    );
    expect(text(report)).toContain('the window is full of events that are not settled');
  });

  test('where the log tells no bytes to its owner, an offset at its end means that all was read', async () => {
    const untold = { ...details, source: { state: 'streaming', lagBytes: null, reconnects: 0 } };
    const { lag } = await reported({
      instances: [instance('a', 'running', { epoch: 3, details: untold })],
      log: () => Promise.resolve({ ...log, bytesBehind: () => 0 }),
    });
    expect(lag).toEqual({ events: 0, moreEvents: false, bytes: 0, seconds: 0 });
  });

  test('without an owner only the bytes are known', async () => {
    expect((await reported()).lag).toEqual({ events: null, moreEvents: true, bytes: 400, seconds: null });
  });

  test('without an owner nothing is left when nothing was written behind the offset', async () => {
    const read = { ...log, bytesBehind: () => 0 };
    expect((await reported({ log: () => Promise.resolve(read) })).lag).toEqual({
      ...{ events: 0, moreEvents: false, bytes: 0, seconds: 0 },
    });
  });

  test('a position of another log is not measured', async () => {
    const foreign: LogState = {
      ...log,
      bytesBehind: () => {
        throw new Error('no such position');
      },
    };
    expect((await reported({ log: () => Promise.resolve(foreign) })).lag.bytes).toBeNull();
  });
});

describe('what is away', () => {
  test('the offset store is named, and the source is shown', async () => {
    const report = await reported({ offset: () => Promise.reject(away) });
    expect(report.unasked).toEqual([
      { place: 'offsets', code: 'OFFSETS_UNAVAILABLE', message: 'Redis is away. Start it.' },
    ]);
    expect(report.problems).toEqual([
      "the offset store can't be asked: OFFSETS_UNAVAILABLE: Redis is away. Start it.",
    ]);
    expect(text(report)).toMatch(/saved +unknown\n/);
    expect(text(report)).toContain('8.0 KiB kept by the server');
  });

  test('the source is named, and the owner is shown', async () => {
    const report = await reported({
      log: () => Promise.reject(new Error('connect postgres://a:hunter2@db/shop\nrefused')),
      instances: [instance('a', 'running', { epoch: 3, details })],
    });
    expect(report.problems).toEqual(["the source can't be asked: Error: connect postgres://***@db/shop"]);
    expect(text(report)).toContain('shop  running on host-a');
    expect(text(report)).toContain('0 events, bytes unknown, 0 s\n');
  });
});

describe('what holds it up', () => {
  const notable: InstanceDetails = {
    ...details,
    ...{ unsettled: 6, strands: 4, running: 1, stuck: 1, backoff: 1, halted: 1, parked: 2, full: 1 },
    turns: [{ key: 'slow\u001b[2J', id: '1', attempt: 2, age: 3_700, stuck: true }],
    failing: [
      {
        ...{ key: 'bad', state: 'backoff', events: 2, attempt: 4, age: 12.3, nextTryIn: 1.5 },
        error: { name: 'TypeError', code: null, message: 'no stock' },
      },
    ],
    hot: [{ key: 'hot', events: 512 }],
    parkedKeys: ['p1', 'p2'],
    fullKeys: ['p2'],
    rates: { admitted: 100.5, settled: 90 },
  };

  test('slow, failing, hot and parked keys are told, and no key moves the cursor', async () => {
    const report = await reported({ instances: [instance('a', 'running', { epoch: 3, details: notable })] });
    const shown = text(report);
    expect(shown).toContain(
      '6 events of 4 keys, 2 keys in flight (1 stuck), 0 waiting, 1 retrying, 1 halted\n',
    );
    expect(shown).toContain('100.5/s read, 90/s settled\n');
    expect(shown).toMatch(/slow\\u001b\[2J +event 1 +attempt 2 +for 1 h 1 min, stuck\n/);
    expect(shown).toMatch(
      /bad +backoff, 4 attempts in 12.3 s +next in 1.5 s +2 events +TypeError: no stock\n/,
    );
    expect(shown).toMatch(/hot +512 events\n/);
    expect(shown).not.toContain('\u001b');
    expect(report.problems).toEqual([
      '1 key halted: they hold the log. Correct the cause, and retry or restart',
      'the dead-letter table has no room for 1 key: they hold the log until it has',
    ]);
  });

  test.each([
    ['offsetsAvailable', { offsetsAvailable: false }],
    ['lettersAvailable', { lettersAvailable: false }],
    ['source', { source: { state: 'reconnecting', lagBytes: null, reconnects: 4 } }],
  ])('%s of the owner is a problem', async (_, part) => {
    const { problems } = await reported({
      instances: [instance('a', 'running', { epoch: 3, details: { ...details, ...part } })],
    });
    expect(problems).toHaveLength(1);
  });
});

describe('the dead-letter table', () => {
  const seen = {
    ...{ pipeline: 'shop', at: Date.parse('2026-01-01T00:01:00.000Z') },
    ...{
      offset: { value: offset },
      bookmarks: { value: [] },
      controls: { value: NO_CONTROLS },
      log: { value: log },
    },
    instances: {
      value: [instance('a', 'running', { epoch: 3, details: { ...details, parked: 2, releasing: 1 } })],
    },
  };

  test('tells what is parked', () => {
    const report = reportOf({ ...seen, letters: { value: { keys: 2, waiting: 10, skipped: 1 } } });
    expect(report).toMatchObject({
      problems: [],
      letters: { keys: 2, waiting: 10, skipped: 1 },
      offset: { age: 60 },
    });
    expect(text(report)).toMatch(
      /parked +2 keys with 10 letters that wait, 1 letter skipped, 1 key being worked off\n/,
    );
  });

  test('that is away is named, and the owner says how many keys are parked', () => {
    const report = reportOf({
      ...seen,
      letters: { away: { code: 'LETTERS_UNAVAILABLE', message: 'It is away.' } },
    });
    expect(report.problems).toEqual([
      "the dead-letter table can't be asked: LETTERS_UNAVAILABLE: It is away.",
    ]);
    expect(text(report)).toMatch(/parked +2 keys\n/);
  });
});

describe('--watch', () => {
  test('without a terminal an answer is written when something has changed, not when only time has passed', async () => {
    let written = '';
    const board = createBoard(
      {
        write: (text, done) => {
          written += text;
          done?.();
        },
      },
      false,
    );
    const report = await reported({ instances: [instance('a', 'running', { epoch: 3, details })] });
    await board.show('one\n', [report]);
    await board.show('two\n', [{ ...report, at: 'later', lag: { ...report.lag, seconds: 9 } }]);
    await board.show('three\n', [{ ...report, bookmarks: 1 }]);
    board.done();
    expect(written).toBe('one\nthree\n');
  });

  test('on a terminal the last answer is drawn over, and no more of it than there are rows', async () => {
    let written = '';
    const board = createBoard(
      { isTTY: true, columns: 80, rows: 6, write: (text) => (written += text) },
      true,
    );
    await board.show(Array.from({ length: 20 }, (_, n) => `line ${String(n)}\n`).join(''), []);
    await board.show('other\n', []);
    board.done();
    expect(written).toContain('line 0\nline 1\nline 2\nline 3\n…\n');
    expect(written).not.toContain('line 4');
    expect(written).toContain('\u001b');
    expect(written).toContain('other\n');
  });

  test('looks until it is told to stop, and tells what it saw last', async () => {
    const stop = new AbortController();
    let looks = 0;
    const last = await watch(() => {
      looks += 1;
      if (looks === 2) stop.abort();
      return Promise.resolve(looks);
    }, stop.signal);
    expect(last).toBe(2);
  });
});

test.each([
  [bytesText(0), '0 B'],
  [bytesText(1_023), '1023 B'],
  [bytesText(1_536), '1.5 KiB'],
  [bytesText(5 * 1024 ** 4), '5.0 TiB'],
  [secondsText(0.4), '0.4 s'],
  [secondsText(250), '4 min 10 s'],
  [secondsText(11_100), '3 h 5 min'],
  [secondsText(200_000), '2 d 7 h'],
])('%s', (shown, expected) => {
  expect(shown).toBe(expected);
});
