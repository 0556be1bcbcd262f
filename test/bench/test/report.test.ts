import { describe, expect, test } from 'vitest';
import { parseArguments } from '../src/arguments.js';
import type { Findings } from '../src/report/figure.js';
import { judge } from '../src/report/judgement.js';
import { toJson } from '../src/report/json.js';
import { describeMachine } from '../src/report/machine.js';
import { toMarkdown } from '../src/report/markdown.js';
import type { Report } from '../src/report/report.js';
import { toClosing, toTable } from '../src/report/table.js';

const FINDINGS: Findings = {
  benchmark: 'drain',
  about: 'a backlog',
  figures: [
    { name: '10 rows: strandline', unit: 'rows/s', rounds: [90_000, 110_000, 100_000] },
    {
      name: '  of the bare library',
      unit: 'ratio',
      rounds: [0.8, 0.7, 0.9],
      goal: { what: 'ten | of bare', rule: '>=', bound: 0.75 },
    },
  ],
};

async function report(): Promise<Report> {
  return {
    machine: await describeMachine({ Postgres: '18.4' }),
    options: parseArguments(['--only', 'drain']),
    findings: [FINDINGS],
    goals: judge('postgres', [FINDINGS]),
  };
}

test('the table has median, lowest and highest, and whether the goal was met', () => {
  expect(toTable(FINDINGS)).toContain('100,000 rows/s   90,000 rows/s   110,000 rows/s');
  expect(toTable(FINDINGS)).toMatch(/of the bare library +0\.800 +0\.700 +0\.900 +>= 0\.750 +met\n/);
});

test('the closing table names the machine, the versions and every goal', async () => {
  const { machine, goals } = await report();
  const text = toClosing(machine, goals);
  expect(text).toContain(`node ${process.versions.node}, Postgres 18.4`);
  expect(text).toMatch(/ten \| of bare +>= 0\.750 +0\.800 +met/);
  expect(text).toMatch(/p99 +<= 5\.00 ms +not measured/);
});

describe('JSON', () => {
  test('is one line with machine, versions, options, findings and goals', async () => {
    const text = toJson(await report());
    expect(text).not.toContain('\n');
    const parsed = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(parsed)).toEqual(['machine', 'versions', 'options', 'findings', 'goals']);
    expect(parsed).toMatchObject({
      versions: { node: process.versions.node, Postgres: '18.4', '@vlasky/zongji': '0.9.0' },
      options: { rows: 200_000 },
      findings: [{ benchmark: 'drain', figures: [{ median: 100_000 }, { median: 0.8, met: true }] }],
    });
  });
});

test('Markdown keeps a table in its cells', async () => {
  const text = toMarkdown(await report());
  expect(text).toContain('| ten \\| of bare | >= 0.750 | 0.800 | met |');
  expect(text).toContain('| &emsp;of the bare library | 0.800 |');
  const widths = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.replaceAll('\\|', '').split('|').length);
  expect(new Set(widths)).toEqual(new Set([6, 8]));
});
