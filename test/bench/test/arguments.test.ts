import { expect, test } from 'vitest';
import { parseArguments } from '../src/arguments.js';
import { BENCHMARK_NAMES } from '../src/benchmarks/benchmarks.js';
import { USAGE, UsageError } from '../src/usage.js';

test('without arguments all of it runs on Postgres, in five rounds', () => {
  expect(parseArguments([])).toMatchObject({
    ...{ database: 'postgres', rows: 200_000, memoryRows: 2_000_000, rounds: 5, format: 'tables' },
    only: BENCHMARK_NAMES,
  });
});

test('parts run once each and in the order of the list', () => {
  const { only } = parseArguments(['--only', 'latency', '--only', 'drain', '--only=latency']);
  expect(only).toEqual(['drain', 'latency']);
});

test('single workloads can be chosen', () => {
  expect(parseArguments(['--workload', 'ones', '--workload', 'keys_1']).workloads).toEqual([
    'ones',
    'keys_1',
  ]);
});

test('the long backlog follows the others unless it is given', () => {
  expect(parseArguments(['--rows', '20000']).memoryRows).toBe(200_000);
  expect(parseArguments(['--rows', '20000', '--memory-rows', '10,000,000']).memoryRows).toBe(10_000_000);
});

test.each([
  [['--rows', '12'], /--rows is 12.*from 1000 to 10000000/],
  [['--rounds', '1.5'], /--rounds is 1\.5/],
  [['--memory-rows', ''], /--memory-rows is ;/],
  [['--only', 'drains'], /--only is drains.*drain, keys/],
  [['--workload', 'twos'], /--workload is twos.*tens, ones/],
  [['--database', 'oracle'], /--database is oracle.*postgres, mysql, mariadb/],
  [['--json', '--markdown'], /--json and --markdown/],
  [['--wat'], /--wat/],
  [['drain'], /drain/],
])('%j is refused with option, value and rule', (args, message) => {
  expect(() => parseArguments(args)).toThrow(UsageError);
  expect(() => parseArguments(args)).toThrow(message);
});

test('the help names every part', () => {
  for (const name of BENCHMARK_NAMES) expect(USAGE).toContain(`\n  ${name} `);
});
