/**
 * What `npm test` runs: install, build, lint, format, types, then every suite on real servers. Arguments go to
 * vitest (`npm test -- completeness`). The servers come and go with the suites (test/kit/src/global-setup.ts).
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build, install, requireNode, root, say } from './prepare.mjs';

requireNode(20, 19);
await install();
await build();

const bin = (name, ...file) => [process.execPath, path.join(root, 'node_modules', name, ...file)];
const report = path.join(root, '.cache', 'test-report.json');
mkdirSync(path.dirname(report), { recursive: true });
rmSync(report, { force: true });

/** They read the tree and disturb nobody, so they run at once; what they say is short. */
const checks = [
  [
    'lint',
    ...bin('oxlint', 'bin', 'oxlint'),
    '--type-aware',
    '--report-unused-disable-directives',
    '--deny-warnings',
  ],
  ['format', ...bin('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level=warn', '.'],
  ['types', ...bin('typescript', 'bin', 'tsc'), '-p', '.'],
  ['types of the page', ...bin('typescript', 'bin', 'tsc'), '-p', 'packages/console/page'],
];
const suites = [
  'suites',
  ...bin('vitest', 'vitest.mjs'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
];

const passed = [...(await Promise.all(checks.map(step))), await step(suites)];
process.stdout.write(`${closingLine()}\n`);
process.exitCode = passed.every(Boolean) ? 0 : 1;

/** Whether it went well. */
async function step([name, ...command]) {
  const startedAt = Date.now();
  say(`── ${name}`);
  const code = await run(command);
  say(`── ${name}: ${code === 0 ? 'ok' : 'FAILED'} in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  return code === 0;
}

/** Runs a step with this terminal; a signal reaches it by the process group, and ends this script with it. */
function run([command, ...args]) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  const pass = (signal) => child.kill(signal);
  process.on('SIGINT', pass).on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve(code ?? 1);
    });
  });
}

function closingLine() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
    return `tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`;
  } catch {
    return 'tests: 0 passed, 1 failed';
  }
}
