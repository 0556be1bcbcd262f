import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { promtool } from '../src/prometheus/promtool.js';
import { runProgram } from '../src/process/run-program.js';

const infra = path.resolve(import.meta.dirname, '..', '..');
const rules = path.join(infra, 'prometheus');

async function run(...args: string[]): Promise<string> {
  const tool = await promtool();
  return runProgram(tool(args), rules);
}

test('the alerts fire where they should, when they should, and nowhere else', async () => {
  expect(await run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
});

test('a rule that fires at something else does not pass its test', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'strandline-rules-'));
  try {
    for (const file of ['alerts.yaml', 'alerts.test.yaml']) {
      const text = await readFile(path.join(rules, file), 'utf8');
      await writeFile(
        path.join(folder, file),
        text.replace('strandline_stuck_age_seconds) > 300', 'strandline_stuck_age_seconds) < 0'),
      );
    }
    await expect(run('test', 'rules', path.join(folder, 'alerts.test.yaml'))).rejects.toThrow(
      'StrandlineStuckKey',
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the queries of the dashboard are PromQL', async () => {
  const { panels } = JSON.parse(await readFile(path.join(infra, 'grafana', 'strandline.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(20);
  const recorded = queries.map((query, n) => ({
    record: `query_${String(n)}`,
    // What Grafana puts in.
    expr: query.replaceAll('$__rate_interval', '1m').replaceAll('$pipeline', '.*'),
  }));
  const folder = await mkdtemp(path.join(tmpdir(), 'strandline-dashboard-'));
  try {
    const file = path.join(folder, 'queries.yaml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    expect(await run('check', 'rules', file)).toContain(`${String(queries.length)} rules found`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
