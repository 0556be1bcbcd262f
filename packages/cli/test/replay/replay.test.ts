import { StrandlineError } from '@strandline/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseFrom, parseTo, type ReplayCommandOptions } from '../../src/replay/options.js';
import { progressText, timeText } from '../../src/replay/progress.js';
import { replay } from '../../src/replay/replay.js';
import { keptStreams, ReplayedPipeline, SUMMARY } from './scripted-replay.js';

const never = new AbortController().signal;
const all: ReplayCommandOptions = { from: parseFrom('earliest'), yes: true };

describe('strandline replay', () => {
  test('asks for what was typed, and nothing else', async () => {
    const pipeline = new ReplayedPipeline();
    const typed: ReplayCommandOptions = {
      ...{ from: parseFrom('deploy-42'), to: parseTo('2026-01-31T12:00Z'), key: 'a b', type: 'paid' },
      ...{ handler: 'rebuild', as: 'again', restart: true, yes: true },
    };
    void pipeline.started.then(() => {
      pipeline.completes();
    });
    expect(await replay(pipeline.asPipeline, typed, keptStreams().streams, never)).toBe('completed');
    expect(pipeline.asked).toEqual({
      ...{ from: { bookmark: 'deploy-42' }, to: { time: '2026-01-31T12:00:00.000000Z' }, key: 'a b' },
      ...{ type: 'paid', handler: 'rebuild', as: 'again', restart: true },
    });
    expect(() => parseFrom('now')).toThrow('Nothing is there to replay');
    expect(() => parseTo('earliest')).toThrow('Nothing is there to replay');
  });

  test('tells a summary on stdout', async () => {
    const pipeline = new ReplayedPipeline();
    const { streams, wrote } = keptStreams();
    const done = replay(pipeline.asPipeline, all, streams, never);
    await pipeline.started;
    pipeline.completes();
    await done;
    expect(wrote.stdout).toBe(
      'orders-replay: completed: 1200 events of 3 keys handled; 1 retry; 4 s, 310 events/s\nafter  16/A:0\nup to  16/B:0\n',
    );
    expect(wrote.stderr).toBe('');
  });

  test('of a dry run tells the most frequent, and needs no confirmation', async () => {
    const pipeline = new ReplayedPipeline();
    pipeline.summary = { ...SUMMARY, dryRun: true, skipped: 7 };
    const { streams, wrote } = keptStreams();
    const done = replay(pipeline.asPipeline, { from: all.from, dryRun: true }, streams, never);
    await pipeline.started;
    pipeline.completes();
    await done;
    expect(wrote.stdout).toContain(
      "1200 events of 3 keys would be handled; 7 not, since they don't fit; 4 s",
    );
    expect(wrote.stdout).toContain('KEY         EVENTS\na\\u001b[2J  1000\nTYPE  EVENTS\npaid  200\n');
  });

  test('in JSON is the summary', async () => {
    const pipeline = new ReplayedPipeline();
    const { streams, wrote } = keptStreams();
    const done = replay(pipeline.asPipeline, { ...all, json: true }, streams, never);
    await pipeline.started;
    pipeline.completes();
    await done;
    expect(JSON.parse(wrote.stdout)).toEqual(SUMMARY);
  });

  test('is not done when somebody who is asked does not say yes', async () => {
    const pipeline = new ReplayedPipeline();
    const { streams } = keptStreams('no\n');
    await expect(replay(pipeline.asPipeline, { from: all.from }, streams, never)).rejects.toMatchObject({
      code: 'CLI_CANCELLED',
    });
    expect(pipeline.asked).toBeNull();
  });

  test('that is interrupted stops the pipeline, and tells the command that goes on', async () => {
    const pipeline = new ReplayedPipeline();
    const { streams, wrote } = keptStreams();
    const stop = new AbortController();
    const typed = {
      ...all,
      config: 'a b.ts',
      from: parseFrom('16/A:0'),
      key: "it's",
      restart: true,
    } as const;
    const done = replay(pipeline.asPipeline, typed, streams, stop.signal);
    await pipeline.started;
    stop.abort('SIGINT');
    expect(await done).toBe('interrupted');
    expect(pipeline.stopped).toBe(1);
    expect(wrote.stdout).toContain('orders-replay: interrupted: 1200 events');
    expect(wrote.stderr).toContain(
      String.raw`  strandline replay --config='a b.ts' --from=16/A:0 --key='it'\''s' --yes` + '\n',
    );
  });

  test('that fails tells how far it came, and rejects with why', async () => {
    const pipeline = new ReplayedPipeline();
    const { streams, wrote } = keptStreams();
    const done = replay(pipeline.asPipeline, all, streams, never);
    await pipeline.started;
    const error = new StrandlineError('REPLAY_FAILED', 'It failed.', 'Correct it.', {
      key: 'k',
      position: 'p',
    });
    pipeline.fails(error);
    await expect(done).rejects.toBe(error);
    expect(wrote.stdout).toContain('orders-replay: failed: ');
    expect(wrote.stderr).toContain('strandline replay --from=earliest --yes');
  });
});

describe('the progress of a replay', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is one line that changes on a terminal, no wider than it, and is gone at the end', async () => {
    const pipeline = new ReplayedPipeline();
    pipeline.summary = { ...SUMMARY, progress: 0.434, remaining: 72_000 };
    const { streams, wrote } = keptStreams('yes\n');
    const done = replay(pipeline.asPipeline, all, streams, never);
    await pipeline.started;
    pipeline.completes();
    await done;
    const line = '\r\u001b[Korders-replay: 1200 events, 43 %, 310 e';
    expect(wrote.stderr).toBe(`${line}\r\u001b[K`);
  });

  test('is a line now and then elsewhere', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const pipeline = new ReplayedPipeline();
    pipeline.summary = { ...SUMMARY, events: 1, progress: null, rate: 0.52, remaining: null };
    const { streams, wrote } = keptStreams();
    const done = replay(pipeline.asPipeline, all, streams, never);
    await pipeline.started;
    await Promise.resolve();
    vi.advanceTimersByTime(10_000);
    pipeline.completes();
    await done;
    expect(wrote.stderr).toBe('orders-replay: 1 event, 0.5 events/s\n'.repeat(2));
  });

  test.each([
    [850.4, '850 ms'],
    [12_300, '12 s'],
    [200_000, '3 min 20 s'],
    [7_500_000, '2 h 5 min'],
  ])('tells %d ms as %s', (milliseconds, text) => {
    expect(timeText(milliseconds)).toBe(text);
    expect(progressText({ ...SUMMARY, remaining: milliseconds })).toContain(`${text} left`);
  });
});
