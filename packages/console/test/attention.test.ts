import type { PipelineAnswer, StrandAnswer } from '@strandline/admin';
import { describe, expect, test } from 'vitest';
import { concernsOf, holdsUpText, NAMED, verdictOf } from '../page/attention/attention.ts';

const NOW = Date.parse('2026-05-01T12:00:00Z');

function pipeline(
  change: { look?: Partial<PipelineAnswer['look']> } & Partial<Omit<PipelineAnswer, 'look'>> = {},
): PipelineAnswer {
  const { look, ...rest } = change;
  return {
    ...{
      name: 'orders',
      source: 'postgres',
      offsets: 'redis',
      deadLetters: true,
      state: 'running',
      epoch: 3,
    },
    ...{ savedWatermark: null, window: { events: 1_000, bytes: 1_000_000 }, sample: null },
    health: { pipeline: 'orders', state: 'running', ready: true, advancing: true, reasons: [] },
    look: {
      ...{ paused: null, watermark: null, settledBefore: null, watermarkAge: null, source: null },
      ...{
        offsetsAvailable: true,
        lettersAvailable: true,
        suspecting: false,
        unsaved: 0,
        unsettled: 0,
        bytes: 0,
      },
      ...{
        strands: 0,
        running: 0,
        stuck: 0,
        backoff: 0,
        exhausted: 0,
        halted: 0,
        held: 0,
        parked: 0,
        full: 0,
      },
      ...{
        releasing: 0,
        settled: 0,
        rates: null,
        oldest: null,
        turns: [],
        failing: [],
        hot: [],
        parkedKeys: [],
      },
      ...{ fullKeys: [], partial: false, prune: null, error: null },
      ...look,
    },
    ...rest,
  };
}

function strand(change: Partial<StrandAnswer>): StrandAnswer {
  return {
    ...{ key: '42', state: 'backoff', held: false, depth: 3, age: 60_000, attempts: 4 },
    head: { id: '1', type: null, position: '0/1:1', committedAt: '2026-05-01T11:58:00Z' },
    ...{ firstFailedAt: '2026-05-01T11:59:00Z', lastFailedAt: '2026-05-01T11:59:59Z' },
    lastError: { name: 'TypeError', code: null, message: 'not yet' },
    ...{
      history: [],
      nextTryAt: '2026-05-01T12:00:10Z',
      turn: null,
      holdsUp: { behind: 2, watermark: null },
    },
    ...change,
  };
}

describe('what somebody should know first', () => {
  test('nothing, while all is well', () => {
    expect(concernsOf(pipeline(), [], NOW)).toEqual([]);
    expect(verdictOf(pipeline(), [])).toEqual({ tone: 'good', text: 'Everything that was read is settled' });
  });

  test('which key is stuck, why, since when, and what it holds up', () => {
    const [concern] = concernsOf(
      pipeline(),
      [strand({ holdsUp: { behind: 2, watermark: { spans: 60_000, unsettled: 5 } } })],
      NOW,
    );
    expect(concern).toMatchObject({
      ...{ severity: 'stands', key: '42', what: 'failing for 1 min, 4 attempts', why: 'TypeError: not yet' },
      holdsUp: '2 events of the key behind it, and the last 1 min of the log, with 5 unsettled events',
      leadsTo: 'key',
    });
  });

  test('a handler that takes too long says how long', () => {
    const turn = { events: 1, runningFor: 90_000, stuck: true };
    const none = { firstFailedAt: null, lastFailedAt: null, lastError: null, nextTryAt: null };
    const [concern] = concernsOf(pipeline(), [strand({ state: 'stuck', turn, ...none })], NOW);
    expect(concern).toMatchObject({
      what: 'handler runs for 1 min 30 s, longer than handlerTimeout',
      why: null,
    });
  });

  test.each(['backoff', 'halted', 'exhausted', 'held', 'a state of a newer version'])(
    'a key that is %s is told',
    (state) => {
      const [concern] = concernsOf(pipeline(), [strand({ state })], NOW);
      expect(concern?.what).not.toBe('');
    },
  );

  test('what a second try may heal is only to be known', () => {
    const fresh = strand({ firstFailedAt: '2026-05-01T11:59:55Z', attempts: 1 });
    expect(concernsOf(pipeline(), [fresh], NOW)).toMatchObject([{ severity: 'notice', key: '42' }]);
    expect(concernsOf(pipeline(), [{ ...fresh, state: 'halted' }], NOW)).toMatchObject([
      { severity: 'stands' },
    ]);
  });

  test('six keys are named, the others counted', () => {
    const many = pipeline({ look: { backoff: 300, stuck: 7 } });
    const strands = Array.from({ length: NAMED + 1 }, (_, at) => strand({ key: String(at) }));
    const concerns = concernsOf(many, strands, NOW);
    expect(concerns).toHaveLength(NAMED + 1);
    expect(concerns.at(-1)).toMatchObject({ keys: 307 - NAMED, leadsTo: 'failing', severity: 'stands' });
    expect(verdictOf(many, concerns).text).toBe('307 things are stuck and need a look');
    // A key may have come between two answers.
    expect(concernsOf(many, strands.slice(0, 2), NOW)).toHaveLength(2);
  });

  test('where nobody has asked for keys they are counted by the look', () => {
    const failing = (age: number) => [
      {
        ...{ key: '1', state: 'backoff', events: 1, attempt: 2, age, nextTryIn: 1 },
        error: { name: 'E', code: null, message: '' },
      },
    ];
    const severities = [1, 60].map((age) =>
      concernsOf(pipeline({ look: { backoff: 1, failing: failing(age) } }), null, NOW).map(
        ({ severity }) => severity,
      ),
    );
    expect(severities).toEqual([['notice'], ['stands']]);
  });

  test('keys that are held are told, named or not', () => {
    const held = pipeline({ look: { held: 2 } });
    expect(concernsOf(held, [], NOW)).toMatchObject([{ severity: 'notice', leadsTo: 'held' }]);
    expect(concernsOf(held, [strand({ state: 'held', held: true })], NOW)).toMatchObject([{ key: '42' }]);
  });

  test('the worst comes first: what is down, what is stuck, what is only to be known', () => {
    const troubled = pipeline({
      health: {
        pipeline: 'orders',
        state: 'running',
        ready: false,
        advancing: true,
        reasons: ['the offset can not be saved'],
      },
      look: { parked: 2, parkedKeys: ['1', '2'], fullKeys: ['1'] },
    });
    const concerns = concernsOf(troubled, [strand({})], NOW);
    expect(concerns.map(({ severity }) => severity)).toEqual(['down', 'stands', 'stands', 'notice']);
    expect(concerns[0]?.what).toBe('The offset can not be saved.');
    expect(verdictOf(troubled, concerns).tone).toBe('bad');
  });

  test('what a pipeline has failed with', () => {
    const failed = pipeline({
      state: 'failed',
      look: { error: { name: 'E', code: 'PG_SLOT_LOST', message: 'gone' } },
    });
    expect(concernsOf(failed, [], NOW)).toMatchObject([{ severity: 'down', why: 'PG_SLOT_LOST: gone' }]);
  });

  test.each(['operator', 'window', 'handlers', 'key', 'offsets'])(
    'why the log is not read on: %s',
    (paused) => {
      expect(concernsOf(pipeline({ look: { paused } }), [], NOW)).toHaveLength(1);
    },
  );

  test('a standby is no trouble', () => {
    const standby = pipeline({ state: 'standby' });
    expect(concernsOf(standby, [], NOW)).toEqual([]);
    expect(verdictOf(standby, [])).toMatchObject({ tone: 'calm' });
  });

  test('nothing is held up by a key that is alone', () => {
    expect(holdsUpText(strand({ holdsUp: { behind: 0, watermark: null } }))).toBeNull();
  });
});
