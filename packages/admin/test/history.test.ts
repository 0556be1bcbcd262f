import { CHANNELS, type Timing } from '@strandline/pipeline';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { History, type Sampled } from '../src/live/history.js';
import { Latencies } from '../src/live/latencies.js';

const log = pino({ level: 'silent' });

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-05-01T12:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A pipeline whose figures the test sets. */
function sampled(name: string) {
  const figures = { admitted: 0, settled: 0, retries: 0, unsettled: 0, bytes: 0 };
  const pipeline = {
    name,
    totals: () => figures,
    details: () => ({ ...figures, source: { lagBytes: 7 }, oldest: { age: 1.5 } }),
    status: () => ({ window: { events: 100, bytes: 1_000 } }),
  } as unknown as Sampled;
  return { figures, pipeline };
}

function timing(change: Partial<Timing>): Timing {
  return { pipeline: 'orders', replay: null, kind: 'live', duration: 0.01, sinceCommit: 0.02, ...change };
}

test('a sample tells what was done in its second, whatever was before', () => {
  const { figures, pipeline } = sampled('orders');
  Object.assign(figures, { admitted: 1_000, settled: 1_000 });
  const history = new History([pipeline], log);
  history.start();
  Object.assign(figures, { admitted: 1_050, settled: 1_020, retries: 3, unsettled: 30, bytes: 900 });
  CHANNELS['strandline:turn:timed'].publish(timing({}));
  CHANNELS['strandline:turn:timed'].publish(timing({ sinceCommit: null, duration: 0.03 }));
  CHANNELS['strandline:turn:timed'].publish(timing({ kind: 'replay', duration: 9 }));
  CHANNELS['strandline:turn:timed'].publish(timing({ pipeline: 'another', duration: 9 }));
  vi.advanceTimersByTime(1_000);
  expect(history.of('orders')).toEqual([
    {
      at: Date.now(),
      ...{ admitted: 50, settled: 20, retries: 3, unsettled: 30, window: 0.9, lagBytes: 7, oldestAge: 1.5 },
      ...{ sinceCommit: { p50: 0.02, p99: 0.02 }, handler: { p50: 0.03, p99: 0.03 } },
    },
  ]);
  vi.advanceTimersByTime(1_000);
  expect(history.of('orders')[1]).toMatchObject({
    admitted: 0,
    settled: 0,
    sinceCommit: null,
    handler: null,
  });
  history.stop();
});

test('keeps a quarter of an hour, listens to nobody once it is stopped, and knows no other pipeline', () => {
  const history = new History([sampled('orders').pipeline], log);
  history.start();
  vi.advanceTimersByTime(1_000_000);
  expect(history.of('orders')).toHaveLength(900);
  history.stop();
  expect(CHANNELS['strandline:turn:timed'].hasSubscribers).toBe(false);
  expect(history.of('another')).toEqual([]);
});

test('latencies are those since the last look, and no more of them are kept than can be', () => {
  const latencies = new Latencies();
  expect(latencies.take()).toBeNull();
  for (let n = 1; n <= 1_000; n += 1) latencies.add(n / 1_000);
  expect(latencies.take()).toEqual({ p50: 0.501, p99: 0.991 });
  for (let n = 0; n < 5_000; n += 1) latencies.add(n < 2_500 ? 0.001 : 9);
  expect(latencies.take()).toEqual({ p50: 0.001, p99: 0.001 });
  expect(latencies.take()).toBeNull();
});

test('a sample that fails is missing, ends nothing, and the others are taken', () => {
  const ill = { ...sampled('ill').pipeline, details: () => expect.fail('a look') };
  const history = new History([ill, sampled('well').pipeline], log);
  history.start();
  vi.advanceTimersByTime(2_000);
  expect([history.of('ill').length, history.of('well').length]).toEqual([0, 2]);
  history.stop();
});
