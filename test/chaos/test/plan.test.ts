import { Random } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { FAULTS } from '../src/faults/all.js';
import { drawTransaction } from '../src/load/transactions.js';
import { DATABASES } from '../src/names.js';
import { drawPlan, type Plan } from '../src/plan.js';

/** What a plan says, with the first draws of each of its chances. */
function told({ load, tableChanges, strikes, ...rest }: Plan): object {
  return {
    ...rest,
    load: Array.from({ length: 20 }, () => drawTransaction(load)),
    tableChanges: tableChanges.unit(),
    strikes: strikes.map(({ due, fault, random }) => [due, fault.name, random.unit()]),
  };
}

describe('a seed', () => {
  test('is a whole plan: the same one gives the same', () => {
    for (const database of DATABASES)
      expect(told(drawPlan(7, 2, database))).toEqual(told(drawPlan(7, 2, database)));
  });

  test('gives each database, and each other seed, a plan of its own', () => {
    const plans = DATABASES.flatMap((database) => [7, 8].map((seed) => told(drawPlan(seed, 2, database))));
    expect(new Set(plans.map((plan) => JSON.stringify(plan))).size).toBe(plans.length);
  });

  test('puts the offsets of one database into files, and those of the others into Redis', () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const kept = DATABASES.map((database) => drawPlan(seed, 1, database).setup.offsets);
      expect(kept.toSorted()).toEqual(['file', 'redis', 'redis']);
    }
  });
});

describe('a plan', () => {
  test('has only faults that its set-up can have, and over some seeds every one there is', () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 30; seed += 1) {
      for (const database of DATABASES) {
        const { setup, strikes } = drawPlan(seed, 2, database);
        for (const { fault } of strikes) {
          expect(fault.applies(setup), fault.name).toBe(true);
          seen.add(fault.name);
        }
      }
    }
    expect([...seen].toSorted()).toEqual(FAULTS.map(({ name }) => name).toSorted());
  });

  test('strikes every few seconds, from the beginning to the end', () => {
    const { strikes } = drawPlan(3, 5, 'postgres');
    const gaps = strikes.map(({ due }, index) => due - (strikes[index - 1]?.due ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(8_001);
    expect(strikes.at(-1)?.due).toBeGreaterThan(290_000);
  });
});

describe('the load', () => {
  test('has each kind of transaction: late ones, rollbacks, savepoints, other tables, big and broken ones', () => {
    const random = new Random(1);
    const all = Array.from({ length: 10_000 }, () => drawTransaction(random));
    const steps = all.flatMap((transaction) => transaction.steps);
    const rowsOf = ({ steps: own }: (typeof all)[number]): number =>
      own.reduce((sum, step) => sum + (step.does === 'insert' ? step.rows.length : 0), 0);
    expect(all.some(({ ends }) => ends === 'rollback')).toBe(true);
    for (const does of ['insert', 'other', 'linger', 'savepoint', 'back'] as const)
      expect(
        steps.some((step) => step.does === does),
        does,
      ).toBe(true);
    expect(Math.max(...steps.map((step) => (step.does === 'linger' ? step.ms : 0)))).toBeGreaterThan(2_000);
    expect(Math.max(...all.map(rowsOf))).toBeGreaterThanOrEqual(5_000);
    expect(
      steps.some((step) => step.does === 'insert' && step.rows.some(({ payload }) => payload === 'broken-1')),
    ).toBe(true);
  });
});
