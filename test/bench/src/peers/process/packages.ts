import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** Up from `src/peers/process` and from `dist/peers/process` alike. */
const benchDirectory = path.resolve(import.meta.dirname, '..', '..', '..');
const sourceDirectory = path.join(benchDirectory, 'peers', 'npm');
/** Which git ignores; removing it is always safe. */
const cacheDirectory = path.resolve(benchDirectory, '..', '..', '.cache', 'bench-peers');
const FILES = ['package.json', 'package-lock.json'];
const INSTALL_DEADLINE_MS = 300_000;

/**
 * Installs the peers' packages unless that was done: they are no dependencies of the project, which few people would want
 * to install with it. The folder is named for the lockfile's contents and complete if it is there.
 */
export async function installPackages(progress: (text: string) => void): Promise<void> {
  const directory = await packagesDirectory();
  if (await exists(directory)) return;
  progress("installing the peers' npm packages");
  const partial = `${directory}.${String(process.pid)}`;
  await mkdir(partial, { recursive: true });
  try {
    for (const file of FILES) await copyFile(path.join(sourceDirectory, file), path.join(partial, file));
    // Two of the packages ask for a newer Node than the project does, and run on it all the same.
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false'];
    await promisify(execFile)('npm', args, { cwd: partial, timeout: INSTALL_DEADLINE_MS });
    await rename(partial, directory);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** A package's module, which must be installed. Who calls declares the slice of it that is used. */
export async function importPackage(name: string): Promise<unknown> {
  const { resolve } = createRequire(path.join(await packagesDirectory(), 'package.json'));
  return import(pathToFileURL(resolve(name)).href);
}

export async function versionOf(name: string): Promise<string> {
  const file = path.join(await packagesDirectory(), 'node_modules', name, 'package.json');
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;
}

async function packagesDirectory(): Promise<string> {
  const contents = await Promise.all(FILES.map((file) => readFile(path.join(sourceDirectory, file))));
  const hash = createHash('sha256').update(Buffer.concat(contents)).digest('hex').slice(0, 12);
  return path.join(cacheDirectory, hash);
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
