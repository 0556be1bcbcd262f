import { describe, expect, test } from 'vitest';
import { chosen } from '../src/benchmarks/drain.js';
import { goalOf } from '../src/goals.js';
import type { Lane } from '../src/workloads/measure.js';
import { against, figuresOf } from '../src/workloads/figures.js';
import { DRAINS, HANDLERS, KEYS } from '../src/workloads/workloads.js';
import type { Reading } from '../src/readers/reading.js';

const ALL = [...DRAINS, ...KEYS, ...HANDLERS];
const [TENS] = DRAINS;

/** A lane whose rounds had so many rows a second. */
function lane(name: string, is: Lane['is'], ...speeds: readonly number[]): Lane {
  const readings = speeds.map((speed): Reading => ({
    ...{ startedAt: 1_000, endedAt: 2_000, seen: speed, cpu: 1, peakMib: 100 },
    ...{ lastOrdinals: new Uint32Array(), faults: [], arrivals: new Float64Array() },
  }));
  return { name, is, readings };
}

describe('the list of workloads', () => {
  test('has names that no two share, and that a database and a slot can have', () => {
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
    for (const { name } of ALL) expect(name).toMatch(/^[a-z][a-z0-9_]{0,40}$/);
  });

  test('compares only with what is measured before', () => {
    for (const [index, { against: other }] of KEYS.entries())
      if (other !== undefined) expect(KEYS.slice(0, index).map(({ name }) => name)).toContain(other);
  });
});

test('a chosen workload brings along what it is compared with', () => {
  expect(chosen(KEYS, ['keys_zipf']).map(({ name }) => name)).toEqual(['keys_5000', 'keys_zipf']);
  expect(chosen(DRAINS, ['keys_zipf'])).toEqual([]);
  expect(chosen(KEYS, [])).toEqual(KEYS);
});

describe('the figures of a workload', () => {
  const figures = figuresOf('postgres', TENS ?? expect.fail(), [
    lane('bare library', 'bare', 100, 200),
    lane('pg_recvlogical 18', 'server', 200, 200),
    lane('strandline, async handler', 'strandline', 90, 150),
    lane('strandline, sync handler', 'strandline', 100, 200),
  ]);

  test('have Strandline as a share of each of the others, round by round', () => {
    const of = (name: string): readonly (readonly number[])[] =>
      figures.filter((figure) => figure.name === `  of ${name}`).map(({ rounds }) => rounds);
    expect(of('the bare library')).toEqual([
      [0.9, 0.75],
      [1, 1],
    ]);
    expect(of('pg_recvlogical 18')).toEqual([
      [0.45, 0.75],
      [0.5, 1],
    ]);
  });

  test('are judged by the first variant alone', () => {
    const judged = figures.flatMap(({ goal, rounds }) => (goal === undefined ? [] : [{ goal, rounds }]));
    expect(judged).toEqual([
      { goal: goalOf('tensOfBare', 'postgres'), rounds: [0.9, 0.75] },
      { goal: goalOf('tensOfServer', 'postgres'), rounds: [0.45, 0.75] },
    ]);
  });

  test('judge handlers that wait by the waits alone', () => {
    const [wide] = HANDLERS;
    const judged = figuresOf('postgres', wide ?? expect.fail(), [
      lane('waits alone', 'waits', 50_000),
      lane('strandline, 10 ms', 'strandline', 40_000),
    ]).filter(({ goal }) => goal !== undefined);
    expect(judged).toEqual([
      { name: '  of waits alone', unit: 'ratio', rounds: [0.8], goal: goalOf('concurrency', 'postgres') },
    ]);
  });

  test('leave out what nobody measured', () => {
    const [workload] = HANDLERS;
    const names = figuresOf('postgres', workload ?? expect.fail(), [
      { ...lane('waits alone', 'waits', 10), readings: [] },
    ]);
    expect(names).toEqual([]);
  });
});

test('two workloads are compared by what each is of its own bare library', () => {
  const few = [lane('bare library', 'bare', 100), lane('strandline', 'strandline', 80)];
  const many = [lane('bare library', 'bare', 50), lane('strandline', 'strandline', 30)];
  expect(against(many, few)[0]).toBeCloseTo(0.75);
});
