import { access, chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** Two levels up from `src/` and from `dist/` alike: infra/servers, then the root of the checkout. */
const packageDirectory = path.resolve(import.meta.dirname, '..');
export const projectDirectory = path.resolve(packageDirectory, '..', '..');

/** Whether a file is there and can be reached. */
export function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/**
 * Everything that the servers write lies below this folder, which git ignores; removing it is always safe. Only their data
 * while they run may be put elsewhere (`run-directory.ts`).
 */
export const cacheDirectory = path.join(projectDirectory, '.cache', 'servers');

/** The supervisor is started by plain Node, so it must be the compiled file even when tests import the sources. */
export const supervisorScript = path.join(packageDirectory, 'dist', 'process', 'supervisor-main.js');

/**
 * Makes a folder below the cache that any uid can pass through, whatever the umask: started as root, a server
 * runs under another uid than the one that owns the cache.
 */
export async function makeCacheDirectory(...segments: readonly string[]): Promise<string> {
  let directory = projectDirectory;
  for (const segment of ['.cache', 'servers', ...segments]) {
    directory = path.join(directory, segment);
    if ((await mkdir(directory, { recursive: true })) !== undefined) await chmod(directory, 0o755);
  }
  return directory;
}
