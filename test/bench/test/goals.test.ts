import { describe, expect, test } from 'vitest';
import { BENCHMARK_NAMES } from '../src/benchmarks/benchmarks.js';
import { DATABASES } from '../src/databases/names.js';
import { GOALS, goalOf } from '../src/goals.js';
import { isMet, type Figure } from '../src/report/figure.js';
import { judge } from '../src/report/judgement.js';

const figure = (rounds: readonly number[], goal?: Figure['goal']): Figure => ({
  name: '  speed',
  unit: 'ratio',
  rounds,
  goal,
});

describe('a goal', () => {
  test.each([
    ['>=', 0.9, true],
    ['>=', 0.9001, false],
    ['<=', 0.9, true],
    ['<', 0.9, false],
    ['<', 0.9001, true],
  ] as const)('%s %d is judged by the median', (rule, bound, met) => {
    expect(isMet(figure([0.1, 0.9, 5], { rule, bound }))).toBe(met);
  });

  test('is missed by what is no number', () => {
    for (const rule of ['>=', '<=', '<'] as const)
      expect(isMet(figure([NaN], { rule, bound: 1 }))).toBe(false);
  });

  test('has a name of its own and a benchmark that there is', () => {
    const entries = Object.values(GOALS);
    expect(new Set(entries.map(({ what }) => what)).size).toBe(entries.length);
    for (const { benchmark } of entries) expect(BENCHMARK_NAMES).toContain(benchmark);
  });

  test('is that of the database', () => {
    expect(goalOf('tensOfBare', 'postgres')?.bound).toBe(0.75);
    expect(goalOf('tensOfBare', 'mysql')?.bound).toBe(0.8);
    expect(goalOf('tensOfServer', 'mariadb')).toBeUndefined();
  });
});

describe('the table of goals', () => {
  test('has every goal of the database once, measured or not', () => {
    for (const database of DATABASES) {
      const goal = goalOf('tensOfBare', database);
      const goals = judge(database, [{ benchmark: 'drain', about: '', figures: [figure([0.7], goal)] }]);
      const asked = Object.values(GOALS).filter(({ bound }) => database in bound);
      expect(goals.map(({ what }) => what).toSorted()).toEqual(asked.map(({ what }) => what).toSorted());
      expect(goals.find(({ what }) => what === goal?.what)).toMatchObject({ measured: 0.7, met: false });
      expect(goals.filter(({ met }) => met === null)).toHaveLength(asked.length - 1);
    }
  });

  test('has a goal that only its figure knows, under the names of both', () => {
    const peers = {
      benchmark: 'peers',
      about: '',
      figures: [figure([7], { rule: '>=', bound: 6 }), figure([1])],
    };
    expect(judge('postgres', [peers])[0]).toMatchObject({ what: 'peers: speed', measured: 7, met: true });
  });
});
