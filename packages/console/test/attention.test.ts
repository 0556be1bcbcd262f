import type { PipelineAnswer, StrandAnswer } from '@strandline/admin';
import { describe, expect, test } from 'vitest';
import { concernsOf, holdsUpText, verdictOf } from '../page/attention/attention.ts';

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
    ...{ nextTryAt: '2026-05-01T12:00:10Z', turn: null, holdsUp: { behind: 2, watermark: null } },
    ...change,
  } as StrandAnswer;
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
      holdsUp: '2 events of the key behind it, and the log since 1 min, with 5 unsettled events',
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
