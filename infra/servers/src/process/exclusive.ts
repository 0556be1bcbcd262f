import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { liveness, type ProcessIdentity } from './process-identity.js';
import { ownIdentity } from './run-directory.js';

/** Between the making of the lock and the writing of its holder lie microseconds. */
const holderlessGraceMs = 10_000;
/** A holder that can't be looked up from here (in a container, say) is given longer than any download takes. */
const unknownHolderGraceMs = 15 * 60_000;

/**
 * Runs `work` while no other process on this cache runs under the same lock. The lock is a folder, because making
 * one either succeeds or fails; one whose holder is dead is taken over.
 */
export async function exclusively<T>(lock: string, work: () => Promise<T>): Promise<T> {
  while (!(await take(lock))) await delay(100);
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (await isAbandoned(lock)) await clear(lock);
    return false;
  }
  await writeFile(path.join(lock, 'holder.json'), JSON.stringify(ownIdentity()));
  return true;
}

async function isAbandoned(lock: string): Promise<boolean> {
  const age = await stat(lock).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0, // released just now
  );
  const holder = await holderOf(lock);
  if (holder === undefined) return age > holderlessGraceMs;
  const state = liveness(holder);
  return state === 'dead' || (state === 'unknown' && age > unknownHolderGraceMs);
}

async function holderOf(lock: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(path.join(lock, 'holder.json'), 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** Moved aside first: of several processes that find it abandoned, one moves it, and none removes a new lock. */
async function clear(lock: string): Promise<void> {
  const aside = `${lock}.${String(process.pid)}`;
  await rename(lock, aside).catch(() => undefined);
  await rm(aside, { recursive: true, force: true });
}
