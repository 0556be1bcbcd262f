import type { DeadLetter, DeadLetterDesk, LetterFilter } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { definePipeline, type Pipeline } from '../src/pipeline.js';
import { FakeLetters } from './fake-letters.js';
import { event, FakeStore, keptLog, noSource } from './fixtures.js';

/** Letters by number, key and place; the number is also the event's. */
const LETTERS: readonly (readonly [number, string, number])[] = [
  [1, 'a', 5],
  [2, 'b', 1],
  [3, 'a', 4],
  [4, 'b', 2],
  [5, 'a', 3],
];

function letter([n, key, place]: readonly [number, string, number]): DeadLetter {
  const parkedAt = '2026-01-01T00:00:00.000Z';
  return {
    ...{ id: String(n), place, event: event(key, n), reason: 'behind', state: 'waiting' },
    ...{ failure: null, parkedAt },
  };
}

/** A desk that writes down what it is asked, with pages of two letters at most. */
class FakeDesk implements DeadLetterDesk {
  readonly asked: unknown[][] = [];
  closed = 0;
  gone = new Set<string>();

  list(
    pipeline: string,
    filter: LetterFilter,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly DeadLetter[]> {
    this.asked.push(['list', pipeline, filter, after, limit]);
    const found = LETTERS.map(letter).filter(
      ({ id, event }) => Number(id) > Number(after ?? 0) && (filter.key ?? event.key) === event.key,
    );
    return Promise.resolve(found.slice(0, Math.min(2, limit)));
  }

  show(pipeline: string, id: string): Promise<DeadLetter | null> {
    this.asked.push(['show', pipeline, id]);
    const found = LETTERS.find(([n]) => String(n) === id && !this.gone.has(id));
    return Promise.resolve(found === undefined ? null : letter(found));
  }

  counts(pipeline: string): Promise<{ keys: number; waiting: number; skipped: number }> {
    this.asked.push(['counts', pipeline]);
    return Promise.resolve({ keys: 2, waiting: 5, skipped: 0 });
  }

  retry(pipeline: string, filter: LetterFilter): Promise<readonly string[]> {
    this.asked.push(['retry', pipeline, filter]);
    return Promise.resolve(['a']);
  }

  skipHead(pipeline: string, key: string): Promise<DeadLetter | null> {
    this.asked.push(['skip', pipeline, key]);
    return Promise.resolve(null);
  }

  discard(pipeline: string, key: string): Promise<number> {
    this.asked.push(['discard', pipeline, key]);
    return Promise.resolve(3);
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}

class LettersWithDesk extends FakeLetters {
  readonly desks: FakeDesk[] = [];

  override desk(): FakeDesk {
    const desk = new FakeDesk();
    this.desks.push(desk);
    return desk;
  }
}

function make(): { pipeline: Pipeline; letters: LettersWithDesk } {
  const letters = new LettersWithDesk();
  const pipeline = definePipeline({
    name: 'shop',
    source: noSource,
    offsets: new FakeStore(),
    deadLetters: letters,
    log: keptLog().log,
    handle: () => undefined,
  });
  return { pipeline, letters };
}

describe('the desk of a pipeline', () => {
  it('is none without a dead-letter store', () => {
    const options = { name: 'shop', source: noSource, offsets: new FakeStore(), log: keptLog().log };
    expect(definePipeline({ ...options, handle: () => undefined }).deadLetters).toBeNull();
  });

  it('asks in the name of the pipeline, which need not run here', async () => {
    const { pipeline, letters } = make();
    const desk = pipeline.deadLetters;
    expect(desk).toBe(pipeline.deadLetters);
    expect(letters.desks).toHaveLength(0);
    expect(await desk?.counts()).toEqual({ keys: 2, waiting: 5, skipped: 0 });
    expect((await desk?.list())?.map(({ id }) => id)).toEqual(['1', '2']);
    await desk?.list({ key: 'a' }, { after: '1', limit: 1 });
    expect(await desk?.show('3')).toMatchObject({ id: '3' });
    expect(await desk?.retry({ error: 'timeout' })).toEqual(['a']);
    await desk?.retry();
    expect(await desk?.skip('a')).toBeNull();
    expect(await desk?.discard('a')).toBe(3);
    expect(letters.desks).toHaveLength(1);
    expect(letters.desks[0]?.asked).toEqual([
      ['counts', 'shop'],
      ['list', 'shop', {}, null, 100],
      ['list', 'shop', { key: 'a' }, '1', 1],
      ['show', 'shop', '3'],
      ['retry', 'shop', { error: 'timeout' }],
      ['retry', 'shop', {}],
      ['skip', 'shop', 'a'],
      ['discard', 'shop', 'a'],
    ]);
  });

  it('exports key by key, each in the order of its places, and leaves out what goes meanwhile', async () => {
    const { pipeline, letters } = make();
    const all: string[] = [];
    for await (const { id } of pipeline.deadLetters?.export() ?? []) {
      if (all.length === 0) letters.desks[0]?.gone.add('4');
      all.push(id);
    }
    expect(all).toEqual(['5', '3', '1', '2']);
    const ofB: string[] = [];
    for await (const { id } of pipeline.deadLetters?.export({ key: 'b' }) ?? []) ofB.push(id);
    expect(ofB).toEqual(['2']);
  });

  it('is closed with the pipeline, and opens no connection after that', async () => {
    const { pipeline, letters } = make();
    await pipeline.deadLetters?.counts();
    await pipeline.stop();
    await pipeline.stop();
    expect(letters.desks[0]?.closed).toBe(1);
    await expect(pipeline.deadLetters?.counts()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    const unused = make();
    await unused.pipeline.stop();
    await expect(unused.pipeline.deadLetters?.retry()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    expect(unused.letters.desks).toHaveLength(0);
  });
});
