import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Figures } from './schedules.js';
import type { Mutation } from './mutations.js';

/** test/simulation, from `src/` and from `dist/` alike. */
const here = path.resolve(import.meta.dirname, '..');
const root = path.resolve(here, '..', '..');

/** What is copied, so that a copy finds its changed neighbours and not the real ones. */
const PACKAGES: Readonly<Record<string, string>> = {
  core: path.join(root, 'packages', 'core'),
  pipeline: path.join(root, 'packages', 'pipeline'),
  'offsets-local': path.join(root, 'packages', 'offsets-local'),
  'test-kit': path.join(root, 'test', 'kit'),
  simulation: here,
};

/** Schedules that a mutation has until it is found. */
const RUNS = 20_000;

/** Plays schedules on a copy of the build in which one line is changed: what was found once, and then seeds from one on. */
export async function playMutant(mutation: Mutation): Promise<Figures> {
  const parent = path.join(root, '.cache', 'mutants');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(path.join(parent, 'mutant-'));
  try {
    const scope = path.join(folder, 'node_modules', '@strandline');
    for (const [name, from] of Object.entries(PACKAGES)) {
      await cp(path.join(from, 'dist'), path.join(scope, name, 'dist'), { recursive: true, filter: isRun });
      await cp(path.join(from, 'package.json'), path.join(scope, name, 'package.json'));
    }
    await change(scope, mutation);
    const main = path.join(scope, 'simulation', 'dist', 'mutant-main.js');
    const args = [RUNS, mutation.seed ?? 1].map(String);
    return JSON.parse(await output(main, args)) as Figures;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Declarations and maps are most of a build, and nothing runs them. */
function isRun(file: string): boolean {
  return !file.endsWith('.d.ts') && !file.endsWith('.map');
}

async function change(scope: string, { file, line, becomes }: Mutation): Promise<void> {
  const [name = '', ...rest] = file.split('/');
  const target = path.join(scope, name, 'dist', ...rest);
  const source = await readFile(target, 'utf8');
  const places = source.split(line).length - 1;
  if (places !== 1)
    throw new Error(`${file} has this line ${String(places)} times, and it has to be there once: ${line}`);
  await writeFile(
    target,
    source.replace(line, () => becomes),
  );
}

function output(main: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    // A schedule leaves nothing behind: what is young need not be looked through that often.
    const child = spawn(process.execPath, ['--max-semi-space-size=32', main, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.once('error', reject);
    child.once('close', () => {
      resolve(text);
    });
  });
}
