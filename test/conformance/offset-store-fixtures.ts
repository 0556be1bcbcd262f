import type { Offset, OffsetSeed, OffsetStore, PositionRange } from '@strandline/core';
import { it } from 'vitest';

/** One kind of store with what it stands on, for one test. */
export interface OffsetStoreBackend extends AsyncDisposable {
  /** A store over the same data, as another process would open it. */
  open(): OffsetStore;
  /** Forgets a pipeline, as a failover or an eviction does. */
  lose(pipeline: string): Promise<void>;
  /** Each way in which what is held of a pipeline can be damaged. */
  readonly damages: Readonly<Record<string, (pipeline: string) => Promise<void>>>;
  /** Damages the only bookmark and the only report of a pipeline, and what it remembers as replaced. */
  readonly damageBeside?: (pipeline: string, text: string) => Promise<void>;
}

export type SetUp = () => Promise<OffsetStoreBackend>;

/** Declares a test with a backend and a store of its own. */
export type Each = (
  name: string,
  test: (backend: OffsetStoreBackend, store: OffsetStore) => Promise<void> | void,
) => void;

export const seed: OffsetSeed = { identity: { system: '7301', slot: 'shop' }, watermark: '0/1000:0' };
export const otherIdentity = { system: '7301', slot: 'shop', timeline: '2' };

/** Names of pipelines that a store must keep apart. */
export const oddNames = {
  unicode: 'störungs-πίναξ-注文-🦀',
  'composed and decomposed': 'caf\u00e9 cafe\u0301',
  braces: '{a}b{c}}{',
  'only braces': '}{',
  'slashes and dots': '../../etc/./passwd',
  'a dot': '.',
  'spaces, quotes and controls': ' \'"`\n\t\0\\ ',
  'percent signs': '%7B%%20',
  'glob characters': '*?[a-z]',
  'very long': 'shop/'.repeat(2_000),
} as const;

export function eachOf(setUp: SetUp): Each {
  return (name, test) => {
    it(name, async () => {
      await using backend = await setUp();
      await using store = closing(backend.open());
      await test(backend, store);
    });
  };
}

export function run(first: string, last = first): PositionRange {
  return { first, last };
}

export function next(offset: Offset, change: Partial<Offset>): Offset {
  return { ...offset, revision: offset.revision + 1, savedAt: '2026-01-02T03:04:05.678Z', ...change };
}

/** What a promise was rejected with, to look at all of it. */
export function thrown(error: unknown): unknown {
  return error;
}

export function closing<T extends OffsetStore>(store: T): T & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
