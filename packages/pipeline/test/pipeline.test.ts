import { OwnershipLostError, StrandlineError, type OpenRequest, type SourceStream } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import type { PipelineOptions } from '../src/config.js';
import { definePipeline, type Pipeline } from '../src/pipeline.js';
import { event, FakeStore, gate, keptLog, offsetAt, position, STEADY, turn, until } from './fixtures.js';
import { ScriptedSource, ScriptedStream } from './scripted-source.js';

const failure = new StrandlineError('PG_WAL_LEVEL', 'wal_level is replica.', 'Change it.');
const transient = new StrandlineError('PG_UNREACHABLE', 'It is away.', 'Start it.', { transient: true });

type Opening = (request: OpenRequest) => Promise<SourceStream>;

function opens(stream: SourceStream): Opening {
  return () => Promise.resolve(stream);
}

function refuses(error: unknown): Opening {
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what the test gives
  return () => Promise.reject(error);
}

/** A source that waits for ever, as a standby does, until it is told to give up. */
const standsBy: Opening = (request) => {
  request.standby('another one');
  return new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });
};

interface Made {
  readonly pipeline: Pipeline;
  readonly source: ScriptedSource;
  readonly store: FakeStore;
  readonly kept: ReturnType<typeof keptLog>;
}

function make(
  openings: Opening[],
  handle: PipelineOptions['handle'] = () => undefined,
  handlers: NonNullable<PipelineOptions['handlers']> = {},
): Made {
  const source = new ScriptedSource(...openings);
  const store = new FakeStore();
  const kept = keptLog();
  const pipeline = definePipeline({
    name: 'shop',
    source,
    offsets: store,
    retry: STEADY,
    commitInterval: 1,
    log: kept.log,
    handle,
    handlers,
  });
  return { pipeline, source, store, kept };
}

describe('start', () => {
  it('resolves when events are being handed out, and the source got what it needs', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    let got: OpenRequest | undefined;
    const { pipeline, store } = make([
      (request) => {
        got = request;
        return Promise.resolve(stream);
      },
    ]);
    expect(pipeline.status().state).toBe('idle');
    await pipeline.start();
    expect(pipeline.status()).toMatchObject({
      name: 'shop',
      state: 'running',
      epoch: 3,
      watermark: position(0),
    });
    expect(got?.pipeline).toBe('shop');
    expect(await got?.load()).toBeNull();
    const seed = { identity: { system: '7301' }, watermark: position(5) };
    expect(await got?.claim(seed)).toMatchObject({ ...seed, epoch: 1 });
    expect(store.saved).toMatchObject({ epoch: 1 });
    await pipeline.stop();
    expect(pipeline.status().state).toBe('stopped');
    await pipeline.finished;
    expect(store.closed).toBe(1);
  });

  it('resolves when this process stands by', async () => {
    const { pipeline, kept } = make([standsBy]);
    await pipeline.start();
    expect(pipeline.status().state).toBe('standby');
    expect(kept.said('standing by')).toMatchObject([{ fields: { pipeline: 'shop', owner: 'another one' } }]);
    await pipeline.stop();
    await pipeline.finished;
    expect(pipeline.status().state).toBe('stopped');
  });

  it.each([
    ['for good', failure],
    ['for now: on the way up every fault is told', transient],
  ])('rejects with what the source can not open for %s', async (_, error) => {
    const { pipeline, source, store } = make([refuses(error)]);
    await expect(pipeline.start()).rejects.toBe(error);
    expect(pipeline.status().state).toBe('failed');
    await expect(pipeline.finished).rejects.toBe(error);
    expect(source.opened).toBe(1);
    expect(store.closed).toBe(1);
    await pipeline.stop();
  });

  it('works once', async () => {
    const { pipeline } = make([opens(new ScriptedStream(offsetAt(0)))]);
    await pipeline.start();
    await expect(pipeline.start()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    await pipeline.stop();
    await expect(pipeline.start()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
  });
});

describe('stop', () => {
  it('before start: it never starts', async () => {
    const { pipeline, source, store } = make([opens(new ScriptedStream(offsetAt(0)))]);
    await pipeline.stop();
    await pipeline.stop();
    expect(pipeline.status().state).toBe('stopped');
    await pipeline.finished;
    await expect(pipeline.start()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    expect(source.opened).toBe(0);
    expect(store.closed).toBeGreaterThanOrEqual(1);
  });

  it('while the source opens: the stream that comes is closed, and nothing is handed out', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const opening = gate<SourceStream>();
    const seen: string[] = [];
    const { pipeline } = make([() => opening.promise], ({ id }) => seen.push(id));
    const started = pipeline.start();
    await turn();
    const stopped = pipeline.stop();
    stream.give([event('a', 1)], 2);
    opening.open(stream);
    await Promise.all([started, stopped]);
    expect(stream.closed).toBe(1);
    expect(seen).toEqual([]);
    expect(pipeline.status().state).toBe('stopped');
  });

  it('by a handler before its first await resolves at once: it can not wait for that handler', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    let stopped = false;
    const { pipeline } = make([opens(stream)], async () => {
      await pipeline.stop();
      stopped = true;
    });
    await pipeline.start();
    stream.give([event('a', 1), event('a', 2)], 3);
    await pipeline.finished;
    expect(stopped).toBe(true);
    expect(pipeline.status()).toMatchObject({
      state: 'stopped',
      watermark: position(1),
      savedWatermark: position(1),
    });
  });

  it('many times at once is one', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const { pipeline, store } = make([opens(stream)]);
    await pipeline.start();
    await Promise.all([pipeline.stop(), pipeline.stop(), pipeline[Symbol.asyncDispose]()]);
    expect([stream.closed, store.closed]).toEqual([1, 1]);
  });

  it('ends a wait for a source that is tried again', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const { pipeline, source } = make([opens(stream), refuses(transient)]);
    await pipeline.start();
    stream.fail(new OwnershipLostError('Gone.'));
    await until('it was tried again', () => source.opened >= 2);
    expect(pipeline.status()).toMatchObject({ owned: false, notOpened: transient.code });
    await pipeline.stop();
    expect(pipeline.status().state).toBe('stopped');
  });
});

describe('a run that ends', () => {
  it('by an error ends the pipeline with it', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const { pipeline, store, kept } = make([opens(stream)]);
    await pipeline.start();
    stream.give([event('a', 1)]);
    stream.fail(failure);
    await expect(pipeline.finished).rejects.toBe(failure);
    expect(pipeline.status()).toMatchObject({ state: 'failed', savedWatermark: position(1) });
    expect(kept.said('stopped by an error')).toMatchObject([
      { level: 'error', fields: { err: { code: failure.code, message: failure.message } } },
    ]);
    expect(store.closed).toBe(1);
  });

  it('by the loss of ownership opens the source again, once the last handler has ended', async () => {
    const first = new ScriptedStream(offsetAt(0));
    const second = new ScriptedStream(offsetAt(0, { epoch: 4 }));
    const slow = gate();
    const running: string[] = [];
    const overlaps: string[] = [];
    const { pipeline, source } = make([opens(first), opens(second)], async ({ key }) => {
      if (running.includes(key)) overlaps.push(key);
      running.push(key);
      await slow.promise;
      running.splice(running.indexOf(key), 1);
    });
    await pipeline.start();
    first.give([event('a', 1)], 2);
    second.give([event('a', 1)], 2);
    await until('it is in flight', () => running.length === 1);
    first.fail(new OwnershipLostError('Another one reads the slot.'));
    await until('the stream is closed', () => first.closed === 1);
    await turn();
    expect(source.opened).toBe(1);
    slow.open();
    await until('it has been delivered again', () => pipeline.status().watermark === position(2));
    expect(pipeline.status().epoch).toBe(4);
    expect(overlaps).toEqual([]);
    await pipeline.stop();
  });

  it('and can not be opened for now is tried again, since it has been seen to work', async () => {
    const first = new ScriptedStream(offsetAt(0));
    const second = new ScriptedStream(offsetAt(0, { epoch: 4 }));
    const { pipeline, source } = make([opens(first), refuses(transient), opens(second)]);
    await pipeline.start();
    first.fail(new OwnershipLostError('Another one reads the slot.'));
    await until('it runs again', () => pipeline.status().epoch === 4);
    expect(source.opened).toBe(3);
    expect(pipeline.status()).toMatchObject({ owned: true, notOpened: null });
    await pipeline.stop();
  });

  it('and can not be opened for good fails', async () => {
    const first = new ScriptedStream(offsetAt(0));
    const { pipeline } = make([opens(first), refuses(failure)]);
    await pipeline.start();
    first.fail(new OwnershipLostError('Another one reads the slot.'));
    await expect(pipeline.finished).rejects.toBe(failure);
  });
});

describe('what a handler brings along', () => {
  /** A handler that is busy until its gate opens, and says what happened when. */
  function closable() {
    const story: string[] = [];
    const slow = gate();
    const handle = async (): Promise<void> => {
      story.push('started');
      await slow.promise;
      story.push('ended');
    };
    const close = (): Promise<void> => {
      story.push('closed');
      return Promise.resolve();
    };
    return { handle: Object.assign(handle, { close }), slow, story };
  }

  it.each<[string, (pipeline: Pipeline, stream: ScriptedStream) => void]>([
    ['it is stopped, many times at once', (pipeline) => void Promise.all([pipeline.stop(), pipeline.stop()])],
    [
      'it fails',
      (_, stream) => {
        stream.fail(failure);
      },
    ],
  ])('is closed once, after its last call has ended, when %s', async (_, end) => {
    const stream = new ScriptedStream(offsetAt(0));
    const { handle, slow, story } = closable();
    // The same one by another name is not another one.
    const { pipeline } = make([opens(stream)], handle, { again: handle });
    await pipeline.start();
    const ended = pipeline.finished.catch(() => undefined);
    stream.give([event('a', 1)], 2);
    await until('it runs', () => story.length === 1);
    end(pipeline, stream);
    await turn();
    expect(story).toEqual(['started']);
    slow.open();
    await ended;
    expect(story).toEqual(['started', 'ended', 'closed']);
  });

  it('is closed when the pipeline never started', async () => {
    const { handle, story } = closable();
    const { pipeline } = make([], handle);
    await pipeline.stop();
    await pipeline.finished;
    expect(story).toEqual(['closed']);
  });
});
