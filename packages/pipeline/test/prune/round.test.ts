import type { OffsetStore } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Candidates } from '../../src/prune/candidates.js';
import { Figures } from '../../src/prune/figures.js';
import { pruneSchema } from '../../src/prune/options.js';
import { Register } from '../../src/prune/register.js';
import { Round } from '../../src/prune/round.js';
import { Settled } from '../../src/prune/settled.js';
import { FakeStore, keptLog } from '../fixtures.js';
import { FakeOutbox } from './fake-outbox.js';

function storeOf(outbox: FakeOutbox, hidden?: string): OffsetStore {
  const registered = (): ReturnType<FakeOutbox['registered']> =>
    outbox.registered().filter(({ pipeline }) => pipeline !== hidden);
  return Object.assign(new FakeStore(), {
    list: () => Promise.resolve(registered()),
    load: (name: string) =>
      Promise.resolve(registered().find(({ pipeline }) => pipeline === name)?.offset ?? null),
  });
}

interface RoundOptions {
  readonly hidden?: string;
  readonly chunk?: number;
  readonly patience?: number;
}

function roundOf(
  outbox: FakeOutbox,
  { hidden, chunk = 4, patience = Infinity }: RoundOptions = {},
): {
  readonly round: Round;
  readonly figures: Figures;
  readonly stop: AbortController;
} {
  const config = pruneSchema.parse({ keep: 0, chunk, duty: 1 });
  const figures = new Figures();
  const stop = new AbortController();
  const { signal } = stop;
  const register = new Register(storeOf(outbox, hidden), ['one']);
  const settled = new Settled({ pruner: outbox, register, names: ['one'], figures, patience, signal });
  const round = new Round({
    pruner: outbox,
    settled,
    config,
    figures,
    signal,
    log: keptLog().log,
    candidates: new Candidates(),
  });
  return { round, figures, stop };
}

/** Numbers from 0 to 1, evenly (Park and Miller). */
function chanceOf(seed: number): () => number {
  let state = (Math.abs(seed) % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** An outbox on which everything happens at random between the pruner's calls, and comes to an end. */
function livelyOutbox(chance: () => number): FakeOutbox {
  let steps = 150;
  let ids = 100;
  const outbox = new FakeOutbox(() => {
    for (let n = 0; n < 3; n += 1) {
      const dice = steps > 0 ? chance() : 1;
      steps -= 1;
      const open = outbox.rows.filter(({ commit }) => commit === null);
      // A small id as often as a great one: what begins late need not come late.
      if (dice < 0.25 && open.length < 5)
        outbox.begin(chance() < 0.5 ? (ids += 1) : 100 - (ids += 1), chance() < 0.3 ? 'old' : null);
      else if (dice < 0.6 && open[0] !== undefined)
        outbox.commit(open[Math.floor(chance() * open.length)] ?? open[0]);
      else if (dice < 0.9 || steps <= 0) {
        if (steps <= 0) for (const row of open) outbox.commit(row);
        for (const [name, at] of outbox.watermarks)
          outbox.watermarks.set(
            name,
            Math.min(outbox.log, steps <= 0 ? outbox.log : at + Math.floor(chance() * 4)),
          );
      }
    }
  });
  outbox.watermarks.set('one', 0).set('two', 0);
  for (let id = 0; id < 6; id += 1) outbox.commit(outbox.begin(id));
  return outbox;
}

describe('a round', () => {
  it('deletes nothing that a pipeline has not settled, whatever happens in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const outbox = livelyOutbox(chanceOf(seed));
        for (let n = 0; n < 6; n += 1) await roundOf(outbox, { patience: -1 }).round.run();
        expect(outbox.broken).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('is found out when it ignores a pipeline', async () => {
    const outbox = new FakeOutbox();
    outbox.watermarks.set('one', 1).set('two', 0);
    outbox.commit(outbox.begin(1));
    expect(await roundOf(outbox, { hidden: 'two' }).round.run()).toBe('done');
    expect(outbox.broken).toEqual(['row 1 at 1, settled 0']);
  });

  it('waits, and names who has not settled', async () => {
    const outbox = new FakeOutbox();
    outbox.watermarks.set('one', 1).set('two', 0);
    outbox.commit(outbox.begin(1));
    const { round, figures } = roundOf(outbox, { patience: 0 });
    expect(await round.run()).toBe('heldBack');
    expect(figures.now).toMatchObject({ heldBack: [{ who: 'pipeline two', at: 'p0' }], candidates: 1 });
    expect(outbox.removed).toBe(0);
    outbox.watermarks.set('two', 1);
    expect(await round.run()).toBe('done');
    expect(figures.now).toMatchObject({ heldBack: [], candidates: 0, rowsDeleted: 1 });
  });

  it('goes around a row that is in use', async () => {
    const outbox = new FakeOutbox();
    for (let id = 1; id <= 9; id += 1) outbox.commit(outbox.begin(id));
    outbox.watermarks.set('one', 9);
    outbox.locked.add(5);
    const { round, figures } = roundOf(outbox, { chunk: 8 });
    expect(await round.run()).toBe('done');
    expect(outbox.rows.map(({ id }) => id)).toEqual([5]);
    expect(figures.now).toMatchObject({ rowsDeleted: 8 });
    expect(figures.now.pauses.locked).toBeGreaterThan(0);
  });

  it('stops deleting once an offset was set back', async () => {
    let calls = 0;
    const outbox = new FakeOutbox(() => {
      calls += 1;
    });
    for (let id = 1; id <= 3; id += 1) outbox.commit(outbox.begin(id));
    outbox.watermarks.set('one', 3);
    const remove = outbox.heldBack.bind(outbox);
    let asked = 0;
    // Settled when it is waited for, twice, and no more when it is to be deleted.
    outbox.heldBack = (end, pipelines) => {
      asked += 1;
      if (asked > 2) outbox.watermarks.set('one', 1);
      return remove(end, outbox.registered().length === pipelines.length ? outbox.registered() : pipelines);
    };
    expect(await roundOf(outbox, { patience: 0 }).round.run()).toBe('done');
    expect(outbox.removed).toBe(0);
    expect(calls).toBeGreaterThan(0);
  });
});
