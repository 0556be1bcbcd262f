import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PermanentError, type OutboxEvent } from '@strandline/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PipelineOptions } from '../../src/config.js';
import { CHANNELS, listen } from '../../src/events/channels.js';
import { definePipeline, type Pipeline } from '../../src/pipeline.js';
import { FakeLetters } from '../fake-letters.js';
import { event, FakeStore, gate, keptLog, offsetAt, STEADY, until } from '../fixtures.js';
import { ScriptedSource, ScriptedStream } from '../scripted-source.js';
import { Shop } from '../replay-shop.js';
import { hearAll } from './hear-all.js';

let heard: ReturnType<typeof hearAll>;
let stream: ScriptedStream;
let store: FakeStore;

beforeEach(() => {
  stream = new ScriptedStream(offsetAt(0));
  store = new FakeStore();
});

afterEach(() => {
  heard.end();
});

async function start(options: Partial<PipelineOptions> = {}): Promise<Pipeline> {
  heard = hearAll('told');
  return started(options);
}

async function started(options: Partial<PipelineOptions> = {}): Promise<Pipeline> {
  const pipeline = definePipeline({
    name: 'told',
    source: new ScriptedSource(() => Promise.resolve(stream)),
    offsets: store,
    retry: { ...STEADY, attempts: 3, initialDelay: 1 },
    commitInterval: 1,
    log: keptLog().log,
    handle: () => undefined,
    ...options,
    batch: undefined,
  });
  await pipeline.start();
  return pipeline;
}

describe('what is told of a turn', () => {
  it('its start and its end are the same object, for a plain value, a promise, and each failure', async () => {
    const starts: unknown[] = [];
    const endListening = listen('strandline:turn:start', (turn) => {
      starts.push(turn);
      expect(turn.outcome).toBeNull();
    });
    let failures = 0;
    const pipeline = await start({
      handle: ({ key }) => {
        if (key === 'plain') return undefined;
        if (key === 'promise') return Promise.resolve();
        failures += 1;
        if (failures === 1) throw new Error('at once');
        return failures === 2 ? Promise.reject(new Error('later')) : undefined;
      },
    });
    stream.give([event('plain', 1), event('promise', 2), event('bad', 3)]);
    await until('all is settled', () => pipeline.status().settled === 3);
    endListening();
    const ends = heard.of('strandline:turn:end');
    expect(new Set(starts)).toEqual(new Set(ends));
    expect(ends.filter(({ event: { key } }) => key !== 'bad').map(({ outcome }) => outcome)).toEqual([
      'settled',
      'settled',
    ]);
    const bad = ends.filter(({ event: { key } }) => key === 'bad');
    expect(bad.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ['retry', 1],
      ['retry', 2],
      ['settled', 3],
    ]);
    expect(bad.map(({ error }) => (error instanceof Error ? error.message : error))).toEqual([
      'at once',
      'later',
      null,
    ]);
    await pipeline.stop();
  });

  it('a handler runs inside what a listener asked for, its awaits included, and no other does', async () => {
    const storage = new AsyncLocalStorage<string>();
    const endListening = listen('strandline:turn:start', (turn) => {
      if (turn.event.key === 'a') turn.within((call) => storage.run(turn.event.id, call));
      if (turn.event.key === 'a') turn.within((call) => storage.run('outer', call));
    });
    const seen: unknown[] = [];
    const pipeline = await start({
      async handle({ key }) {
        await Promise.resolve();
        seen.push([key, storage.getStore()]);
      },
    });
    stream.give([event('a', 1), event('b', 2), event('a', 3)]);
    await until('all is settled', () => pipeline.status().settled === 3);
    endListening();
    // What was asked for first is innermost.
    expect(seen.toSorted()).toEqual([
      ['a', '1'],
      ['a', '3'],
      ['b', undefined],
    ]);
    await pipeline.stop();
  });

  it('a failure for good is exhausted, and only then', async () => {
    const pipeline = await start({ handle: () => Promise.reject(new PermanentError('never')) });
    stream.give([event('a', 1)]);
    await until('it is halted', () => pipeline.status().halted === 1);
    expect(heard.of('strandline:turn:end').map(({ outcome }) => outcome)).toEqual(['exhausted']);
    expect(pipeline.totals()).toMatchObject({ retries: 0, exhausted: 1, admitted: 1, settled: 0 });
    await pipeline.stop();
  });

  it('a batch has all of its events, and is narrowed when it has failed for good', async () => {
    heard = hearAll('told');
    const pipeline = definePipeline({
      name: 'told',
      source: new ScriptedSource(() => Promise.resolve(stream)),
      offsets: store,
      retry: { ...STEADY, attempts: 1 },
      log: keptLog().log,
      batch: { max: 10 },
      handle: (events: readonly OutboxEvent[]) => {
        if (events.length > 1) throw new Error('too many');
      },
    });
    await pipeline.start();
    stream.give([event('a', 1), event('a', 2)]);
    await until('all is settled', () => pipeline.status().settled === 2);
    expect(
      heard.of('strandline:turn:end').map(({ outcome, batch }) => [outcome, batch?.map(({ id }) => id)]),
    ).toEqual([
      ['narrowed', ['1', '2']],
      ['settled', ['1']],
      ['settled', ['2']],
    ]);
    await pipeline.stop();
  });

  it('its time is told, from the call to the end, for the first turns of a millisecond and no more', async () => {
    const waiting = gate();
    const pipeline = await start({ handle: ({ key }) => (key === 'slow' ? waiting.promise : undefined) });
    stream.give([event('slow', 1)]);
    await until('it runs', () => pipeline.status().running === 1);
    stream.give(Array.from({ length: 2_000 }, (_, n) => event(`k${String(n)}`, n + 2)));
    await until('the others are settled', () => pipeline.status().settled === 2_000);
    const others = heard.of('strandline:turn:timed');
    expect(others.length).toBeGreaterThan(0);
    expect(others.length).toBeLessThan(2_000);
    const fastest = Math.max(...others.map(({ duration }) => duration));
    waiting.open();
    await until('all is settled', () => pipeline.status().settled === 2_001);
    const slow = heard.of('strandline:turn:timed').at(-1);
    expect(slow).toMatchObject({ kind: 'live', replay: null });
    expect(slow?.duration).toBeGreaterThan(0);
    expect(fastest).toBeGreaterThanOrEqual(0);
    // The fixture's events were committed at the beginning of 2026.
    expect(slow?.sinceCommit).toBeGreaterThan(0);
    await pipeline.stop();
  });
});

describe('a listener to few turns', () => {
  it('hears of the end of those that it follows, without the end of all', async () => {
    const ended: string[] = [];
    heard = hearAll('told', ['strandline:turn:start']);
    const endListening = listen('strandline:turn:start', (turn) => {
      if (turn.event.key !== 'a') return;
      for (const name of ['first', 'second'])
        turn.whenEnded(({ outcome, event: { id } }) => ended.push(`${name} ${id} ${String(outcome)}`));
    });
    const pipeline = await started();
    stream.give([event('a', 1), event('b', 2)]);
    await until('all is settled', () => pipeline.status().settled === 2);
    endListening();
    expect(ended).toEqual(['first 1 settled', 'second 1 settled']);
    expect(heard.of('strandline:turn:start')).toHaveLength(2);
    await pipeline.stop();
  });
});

describe('what is told beside turns', () => {
  it('batches, commits, states and the term of ownership, in their order', async () => {
    const pipeline = await start();
    stream.give([event('a', 1), event('b', 2)]);
    await until('it is saved', () => store.saved?.watermark === 'p2');
    await pipeline.stop();
    expect(heard.of('strandline:state:change').map(({ state }) => state)).toEqual([
      'starting',
      'running',
      'stopping',
      'stopped',
    ]);
    expect(heard.of('strandline:batch:admitted')).toEqual([
      { pipeline: 'told', replay: null, admitted: 2, duplicates: 0 },
    ]);
    const commits = heard.of('strandline:commit:end');
    expect(commits.at(-1)).toMatchObject({ result: 'saved', watermark: 'p2', error: null });
    expect(commits.every(({ duration }) => duration >= 0)).toBe(true);
    expect(pipeline.totals().commits.saved).toBe(commits.length);
    expect(heard.of('strandline:ownership:gained')).toEqual([
      { pipeline: 'told', replay: null, epoch: 3, position: 'p0' },
    ]);
    expect(heard.of('strandline:ownership:lost')).toEqual([
      { pipeline: 'told', replay: null, epoch: 3, position: 'p2', how: 'given-up' },
    ]);
    expect(pipeline.totals()).toMatchObject({
      admitted: 2,
      settled: 2,
      ownershipsGained: 1,
      ownershipsLost: 0,
    });
  });

  it('what the log brings again is counted and not handled', async () => {
    stream = new ScriptedStream(offsetAt(1, { completed: [{ first: 'p3', last: 'p4' }] }));
    const pipeline = await start();
    stream.give([1, 2, 3, 4, 5].map((n) => event('a', n)));
    await until('the new ones are settled', () => pipeline.status().settled === 2);
    expect(heard.of('strandline:batch:admitted')).toMatchObject([{ admitted: 2, duplicates: 3 }]);
    expect(pipeline.totals().duplicates).toBe(3);
    await pipeline.stop();
  });

  it('a pause has a beginning, an end and a duration, and is in the totals while it goes on', async () => {
    const waiting = gate();
    const pipeline = await start({ window: { events: 2 }, handle: () => waiting.promise });
    stream.give([event('a', 1), event('b', 2), event('c', 3)]);
    await until('it is paused', () => pipeline.status().paused === 'window');
    await until('that takes time', () => pipeline.totals().paused.window > 0);
    expect(heard.of('strandline:pause:end')).toEqual([]);
    waiting.open();
    await until('all is settled', () => pipeline.status().settled === 3);
    expect(heard.of('strandline:pause:begin')[0]).toMatchObject({ reason: 'window' });
    const [end] = heard.of('strandline:pause:end');
    expect(end).toMatchObject({ reason: 'window' });
    expect(pipeline.totals().paused.window).toBeGreaterThan(0);
    expect(pipeline.totals().paused).toMatchObject({ handlers: 0, key: 0 });
    await pipeline.stop();
  });

  it('a handler that takes too long is stuck from then to its end', async () => {
    const waiting = gate();
    const pipeline = await start({ handlerTimeout: 4, handle: () => waiting.promise });
    stream.give([event('a', 1)]);
    await until('it is stuck', () => heard.of('strandline:stuck:begin').length === 1);
    expect(heard.of('strandline:stuck:end')).toEqual([]);
    waiting.open();
    await until('it has ended', () => pipeline.status().settled === 1);
    expect(heard.of('strandline:stuck:end')).toMatchObject([{ key: 'a', id: '1', attempt: 1 }]);
    expect(pipeline.totals().timeouts).toBe(1);
    await pipeline.stop();
  });

  it("a key that is parked, what is stored of it, its letters' turns, and that it is live again", async () => {
    const letters = new FakeLetters();
    let isBroken = true;
    const pipeline = await start({
      deadLetters: letters,
      parking: { poll: 10 },
      handle: ({ key }) => {
        if (isBroken && key === 'a') throw new PermanentError('no');
      },
    });
    stream.give([event('a', 1), event('b', 2), event('a', 3)]);
    await until('all is settled', () => pipeline.status().settled === 3);
    expect(heard.of('strandline:key:parked')).toEqual([{ pipeline: 'told', replay: null, key: 'a' }]);
    expect(heard.of('strandline:letters:stored')).toMatchObject([
      { key: 'a', reason: 'failed', count: 1 },
      { key: 'a', reason: 'behind', count: 1 },
    ]);
    isBroken = false;
    letters.releasedKeys.add('a');
    await until('it is live again', () => heard.of('strandline:key:released').length === 1);
    const turns = heard.of('strandline:turn:end').filter(({ kind }) => kind === 'letter');
    expect(turns.map(({ event: { id }, outcome, attempt }) => [id, outcome, attempt])).toEqual([
      ['1', 'settled', 1],
      ['3', 'settled', 1],
    ]);
    expect(pipeline.totals()).toMatchObject({
      lettersStored: { failed: 1, behind: 1, overflow: 0, crash: 0, skipped: 0 },
      lettersHandled: 2,
    });
    await pipeline.stop();
  });

  it('a replay says that it is one, and is not in the totals of its pipeline', async () => {
    heard = hearAll('shop');
    const shop = new Shop();
    await using pipeline = shop.define();
    await (
      await pipeline.replay({ from: 'earliest' })
    ).finished;
    const turns = heard.of('strandline:turn:end');
    expect(turns).toHaveLength(9);
    expect(new Set(turns.map(({ kind, replay }) => `${kind} ${String(replay)}`))).toEqual(
      new Set(['replay shop-replay']),
    );
    expect(heard.of('strandline:turn:timed').every(({ sinceCommit }) => sinceCommit === null)).toBe(true);
    expect(pipeline.totals()).toMatchObject({ admitted: 0, settled: 0 });
  });

  it('by the channels that docs/observing.md has, and by no other', () => {
    heard = hearAll('told');
    const text = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/observing.md'), 'utf8');
    const written = [...text.matchAll(/^\| `(strandline:[a-z:]+)`/gm)].map(([, name]) => name);
    expect(written).toEqual(Object.keys(CHANNELS));
  });

  it('nothing is told to nobody: no channel has a subscriber when all listeners have ended', async () => {
    heard = hearAll('told');
    heard.end();
    expect(Object.values(CHANNELS).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([]);
    const pipeline = await started();
    stream.give([event('a', 1)]);
    await until('it is settled', () => pipeline.status().settled === 1);
    await pipeline.stop();
    expect(heard.heard).toEqual([]);
  });
});
