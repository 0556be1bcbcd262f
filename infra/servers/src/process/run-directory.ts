import {
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
  chmod,
} from 'node:fs/promises';
import path from 'node:path';
import { makeCacheDirectory } from '../project-paths.js';
import { identify, liveness, type ProcessIdentity } from './process-identity.js';
import { killTree } from './process-tree.js';
import { releaseSharedMemory } from './shared-memory.js';

/** Names the folder below which servers have their data while they run; by default it is in the cache. */
export const runsVariable = 'STRANDLINE_TEST_RUNS';

/**
 * The folder of one running server: its data, its log, and who answers for it. It goes with the server; what a
 * dead run left is removed when the next server starts.
 */
export interface RunOwner {
  /** Removes the folder at its end: at first the process that starts the server, then the supervisor. */
  readonly owner: ProcessIdentity;
  /** The server's own process, killed by the next run should even the supervisor have been killed. */
  readonly server?: ProcessIdentity;
}

const ownerFile = 'owner.json';

/** A folder without an owner that is as young as this may be one that another process is just making. */
const ownerlessGraceMs = 60_000;
/** A folder whose owner can't be looked up from here (made in a container, say) is left alone this long. */
const unknownOwnerGraceMs = 24 * 3_600_000;

/** @param runs the folder that it is made in. */
export async function createRunDirectory(kind: string, runs?: string): Promise<string> {
  runs ??= await runsDirectory();
  await removeDeadRuns(runs);
  const directory = await mkdtemp(path.join(runs, `${kind}-`));
  await chmod(directory, 0o755);
  await recordOwner(directory, { owner: ownIdentity() });
  return directory;
}

/** The folder in the cache, which is on the same disk as all else of the cache. */
export function runsOnDisk(): Promise<string> {
  return makeCacheDirectory('runs');
}

async function runsDirectory(): Promise<string> {
  const named = process.env[runsVariable];
  if (named === undefined) return runsOnDisk();
  await mkdir(named, { recursive: true, mode: 0o755 });
  const { uid } = await lstat(named);
  if (uid === (process.getuid?.() ?? uid)) return named;
  throw new Error(`The folder ${named}, which ${runsVariable} names, belongs to another user.`);
}

/** Replaces the record in one step, so that a reader never sees half of it. */
export async function recordOwner(directory: string, record: RunOwner): Promise<void> {
  const draft = path.join(directory, `${ownerFile}.${String(process.pid)}`);
  await writeFile(draft, JSON.stringify(record));
  await rename(draft, path.join(directory, ownerFile));
}

export function ownIdentity(): ProcessIdentity {
  const identity = identify(process.pid);
  if (identity === undefined) throw new Error('This process is not to be found in the process table.');
  return identity;
}

/** Removes the folder of a server that has ended, and what the kernel still holds for it. */
export async function removeRunDirectory(directory: string): Promise<void> {
  await releaseSharedMemory(path.join(directory, 'data'));
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

async function removeDeadRuns(runs: string): Promise<void> {
  for (const name of await readdir(runs)) {
    const directory = path.join(runs, name);
    // What another user left can't be removed from here, and must not keep this server from starting.
    await removeIfDead(directory).catch(() => undefined);
  }
}

async function removeIfDead(directory: string): Promise<void> {
  const record = await readOwner(directory);
  const age = Date.now() - (await stat(directory)).mtimeMs;
  const owner = record === undefined ? undefined : liveness(record.owner);
  if (owner === 'alive') return;
  if (owner === 'unknown' && age < unknownOwnerGraceMs) return;
  if (owner === undefined && age < ownerlessGraceMs) return;
  if (record?.server !== undefined && liveness(record.server) === 'alive') await killTree(record.server.pid);
  await removeRunDirectory(directory);
}

async function readOwner(directory: string): Promise<RunOwner | undefined> {
  try {
    return JSON.parse(await readFile(path.join(directory, ownerFile), 'utf8')) as RunOwner;
  } catch {
    return undefined;
  }
}
