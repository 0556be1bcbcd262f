import type { Logger } from '@strandline/core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { supervise } from '../src/supervise.js';
import { ScriptedPipeline } from './scripted-pipeline.js';

let lines: string[] = [];
beforeEach(() => {
  lines = [];
});
const note = (fields: object, message: string): void => {
  const { reason } = fields as { reason?: string };
  lines.push(reason === undefined ? message : `${message} (${reason})`);
};
const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };

function supervised(...names: string[]) {
  const stop = new AbortController();
  const pipelines = names.map((name) => new ScriptedPipeline(name));
  const [first, second] = pipelines as [ScriptedPipeline, ScriptedPipeline];
  return { first, second, stop, failures: supervise({ pipelines, stop: stop.signal, log }) };
}

describe('supervision', () => {
  test('says that it is ready once every pipeline is up, and not before', async () => {
    const { first, second, stop, failures } = supervised('orders', 'mails');
    first.isUp('running');
    await Promise.resolve();
    expect(lines).toEqual([]);

    second.isUp('standby');

    await vi.waitFor(() => {
      expect(lines).toEqual([
        'ready: running orders; standing by for mails, which another process runs: it takes over when that one is gone',
      ]);
    });
    stop.abort('SIGTERM');
    first.ends();
    second.ends();
    await failures;
  });

  test('a signal stops every pipeline, and it waits until they have ended', async () => {
    const { first, second, stop, failures } = supervised('orders', 'mails');
    let isOver = false;
    void failures.then(() => (isOver = true));
    first.isUp('running');
    second.isUp('running');

    stop.abort('SIGTERM');
    first.ends();
    await new Promise(setImmediate);

    expect(lines.at(-1)).toBe('stopping: what is in flight may end (SIGTERM)');
    expect([first.calls, second.calls]).toEqual([
      ['start', 'stop'],
      ['start', 'stop'],
    ]);
    expect(isOver).toBe(false);
    second.ends();
    expect(await failures).toEqual([]);
  });

  test('a signal while a pipeline starts stops it, and nothing is ready then', async () => {
    const { first, stop, failures } = supervised('orders');
    stop.abort('SIGINT');
    first.ends();
    expect(await failures).toEqual([]);
    expect(lines).toEqual(['stopping: what is in flight may end (SIGINT)']);
  });

  test('a signal before the start starts nothing', async () => {
    const pipeline = new ScriptedPipeline('orders');
    expect(await supervise({ pipelines: [pipeline], stop: AbortSignal.abort('SIGTERM'), log })).toEqual([]);
    expect(pipeline.calls).toEqual([]);
  });

  test.each([
    [
      'can not start',
      (pipeline: ScriptedPipeline, error: Error) => {
        pipeline.doesNotStart(error);
      },
    ],
    [
      'fails later',
      (pipeline: ScriptedPipeline, error: Error) => {
        pipeline.isUp('running');
        pipeline.fails(error);
      },
    ],
  ])('when one pipeline %s the others drain, and the failure is told once', async (_, fail) => {
    const { first, second, failures } = supervised('orders', 'mails');
    second.isUp('running');
    const error = new Error('no such table');

    fail(first, error);
    await vi.waitFor(() => {
      expect(second.calls).toEqual(['start', 'stop']);
    });
    second.ends();

    expect(await failures).toEqual([{ pipeline: 'orders', error }]);
    expect(lines.at(-1)).toBe('a pipeline has failed: the others drain');
  });

  test('a pipeline that fails alone is stopped, too: it may be running, started by its config', async () => {
    const { first, failures } = supervised('orders');
    const error = new Error('the pipeline is running');
    first.doesNotStart(error);
    expect(await failures).toEqual([{ pipeline: 'orders', error }]);
    expect(first.calls).toEqual(['start', 'stop']);
    expect(lines).toEqual([]);
  });

  test('a failure while draining is told, too', async () => {
    const { first, stop, failures } = supervised('orders');
    first.isUp('running');
    stop.abort('SIGTERM');
    const error = new Error('the store is beyond repair');
    first.fails(error);
    expect(await failures).toEqual([{ pipeline: 'orders', error }]);
  });

  test('pipelines that stop by themselves end it without a failure', async () => {
    const { first, failures } = supervised('orders');
    first.isUp('running');
    first.ends();
    expect(await failures).toEqual([]);
  });
});
