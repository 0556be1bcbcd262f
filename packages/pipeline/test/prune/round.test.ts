import type { OffsetStore } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Candidates } from '../../src/prune/candidates.js';
import { Figures } from '../../src/prune/figures.js';
import { PartitionTries } from '../../src/prune/partition-tries.js';
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
  readonly tries?: PartitionTries;
}

function roundOf(
  outbox: FakeOutbox,
  { hidden, chunk = 4, patience = Infinity, tries = new PartitionTries() }: RoundOptions = {},
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
    tries,
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
    expect(await round.run()).toBe('heldBack');
    expect(outbox.rows.map(({ id }) => id)).toEqual([5]);
    expect(figures.now).toMatchObject({
      ...{ rowsDeleted: 8, candidates: 1 },
      heldBack: [{ who: 'another session', why: 'it uses rows that are to go: 1' }],
    });
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
    expect(await roundOf(outbox, { patience: 0 }).round.run()).toBe('heldBack');
    expect(outbox.removed).toBe(0);
    expect(calls).toBeGreaterThan(0);
  });

  it('asks after a pause for pipelines that are new, and ends for one that has not settled', async () => {
    vi.useFakeTimers();
    try {
      const outbox = new FakeOutbox();
      outbox.watermarks.set('one', 3);
      for (let id = 1; id <= 3; id += 1) outbox.commit(outbox.begin(id));
      outbox.loads = { active: 1_000, replicas: [] };
      const { round, figures } = roundOf(outbox, { patience: 0 });
      const outcome = round.run();
      await vi.advanceTimersByTimeAsync(1_500);
      expect(figures.now.paused?.kind).toBe('busy');
      outbox.watermarks.set('new', 0);
      outbox.loads = { active: 0, replicas: [] };
      await vi.advanceTimersByTimeAsync(1_500);
      expect(await outcome).toBe('heldBack');
      expect(figures.now.heldBack).toMatchObject([{ who: 'pipeline new' }]);
      expect(outbox.removed).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('asks for pipelines that are new before a partition goes', async () => {
    const outbox = new FakeOutbox();
    outbox.watermarks.set('one', 1);
    outbox.commit(outbox.begin(1, 'old'));
    const heldBack = outbox.heldBack.bind(outbox);
    outbox.heldBack = async (...asked) => {
      const answer = await heldBack(...asked);
      // It registers once the proof for what was set aside is made.
      if (outbox.aside.size > 0 && (asks += 1) === 2) outbox.watermarks.set('new', 0);
      return answer;
    };
    let asks = 0;
    const { round, figures } = roundOf(outbox, { patience: 0 });
    expect(await round.run()).toBe('heldBack');
    expect(figures.now.heldBack).toMatchObject([{ who: 'pipeline new' }]);
    expect(outbox.dropped).toBe(0);
  });

  it('leaves partitions alone once one was in use, and then for more and more rounds', async () => {
    const outbox = new FakeOutbox();
    outbox.watermarks.set('one', 0);
    for (let n = 1; n <= 30; n += 1) outbox.begin(n, `old${String(n)}`);
    let tried = 0;
    const setAside = outbox.setAside.bind(outbox);
    outbox.setAside = (partition) => {
      tried += 1;
      return setAside(partition);
    };
    const tries = new PartitionTries();
    const triedIn: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      tried = 0;
      const { round, figures } = roundOf(outbox, { tries });
      expect(await round.run()).toBe(n === 0 || n === 2 || n === 6 ? 'heldBack' : 'done');
      if (n === 0) expect(figures.now.heldBack).toMatchObject([{ who: 'another session' }]);
      triedIn.push(tried);
    }
    expect(triedIn).toEqual([1, 0, 1, 0, 0, 0, 1, 0]);
  });
});
