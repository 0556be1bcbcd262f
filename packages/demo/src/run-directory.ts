import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Up from `packages/demo/dist`. */
const projectDirectory = path.resolve(import.meta.dirname, '..', '..', '..');
const runsDirectory = path.join(projectDirectory, '.cache', 'demo');

/** The folder of one run: the offset file and the worker's log. It goes with the run. */
export interface RunDirectory extends AsyncDisposable {
  readonly path: string;
}

export async function createRunDirectory(): Promise<RunDirectory> {
  await removeDeadRuns();
  const directory = path.join(runsDirectory, String(process.pid));
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  return {
    path: directory,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A run that was itself killed could not clean up. Its folder is named after its process id. */
async function removeDeadRuns(): Promise<void> {
  await mkdir(runsDirectory, { recursive: true });
  for (const name of await readdir(runsDirectory)) {
    if (!isRunning(Number(name))) await rm(path.join(runsDirectory, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
