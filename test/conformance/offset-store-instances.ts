import type { InstanceReport } from '@strandline/core';
import { waitUntil } from '@strandline/test-kit';
import { describe, expect } from 'vitest';
import { closing, oddNames, seed, type Each } from './offset-store-fixtures.js';

function report(id: string, overrides: Partial<InstanceReport> = {}): InstanceReport {
  return {
    ...{ id, host: 'shop-1', pid: 4_711, state: 'running', epoch: 3 },
    ...{ startedAt: '2026-01-02T03:04:05.678Z', reportedAt: '2026-01-02T03:05:05.678Z' },
    details: { lag: null, keys: ['注文🦀'], deep: [[{}]] },
    ...overrides,
  };
}

const byId = (a: InstanceReport, b: InstanceReport): number => (a.id < b.id ? -1 : 1);

/** Milliseconds: longer than any test. */
const LONG = 600_000;

export function describeInstances(each: Each): void {
  describe('instances', () => {
    each('are what they said last, for every process', async (backend, store) => {
      expect(await store.instances.list('shop')).toEqual([]);
      await store.instances.report('shop', report('a'), LONG);
      await store.instances.report('shop', report('b', { state: 'standby', epoch: null }), LONG);
      await store.instances.report('shop', report('a', { state: 'stopping', details: null }), LONG);
      await using other = closing(backend.open());
      expect((await other.instances.list('shop')).toSorted(byId)).toEqual([
        report('a', { state: 'stopping', details: null }),
        report('b', { state: 'standby', epoch: null }),
      ]);
    });

    each('are forgotten when they say no more, each after its own time', async (_, { instances }) => {
      await instances.report('shop', report('stays'), LONG);
      await instances.report('shop', report('goes'), 60);
      await instances.report('other', report('goes'), 60);
      await waitUntil('one is forgotten', async () => (await instances.list('shop')).length === 1);
      expect(await instances.list('shop')).toEqual([report('stays')]);
      await waitUntil('all are forgotten', async () => (await instances.list('other')).length === 0);
      await instances.report('shop', report('goes'), LONG);
      expect((await instances.list('shop')).toSorted(byId)).toEqual([report('goes'), report('stays')]);
    });

    each('leave, once or more often, and may come again', async (_, { instances }) => {
      await instances.leave('shop', 'a');
      await instances.report('shop', report('a'), LONG);
      await instances.report('shop', report('b'), LONG);
      await instances.leave('shop', 'a');
      await instances.leave('shop', 'a');
      expect(await instances.list('shop')).toEqual([report('b')]);
      await instances.report('shop', report('a'), LONG);
      expect((await instances.list('shop')).toSorted(byId)).toEqual([report('a'), report('b')]);
    });

    each('keep pipelines and processes apart, however they are called', async (_, store) => {
      const ids = ['A', 'a', '__proto__', ...Object.values(oddNames)];
      const pipelines = ['shop', 'Shop', ...Object.values(oddNames)];
      for (const pipeline of pipelines)
        for (const id of ids) await store.instances.report(pipeline, report(id, { host: pipeline }), LONG);
      for (const pipeline of pipelines) {
        const listed = (await store.instances.list(pipeline)).toSorted(byId);
        expect(listed).toEqual(ids.toSorted().map((id) => report(id, { host: pipeline })));
      }
      expect(await store.load('shop')).toBeNull();
      expect((await store.claim('shop', seed)).epoch).toBe(1);
    });
  });
}
