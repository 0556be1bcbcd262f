import { createHash } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { projectDirectory } from '../project-paths.js';

/** Where Linux has a file system in memory that everyone may write to. */
const place = '/dev/shm';
/** What `statfs` calls one in memory. */
const tmpfs = 0x0102_1994;
const gib = 2 ** 30;
/** The servers of a test run have been seen to have 2 GiB of data at once; a container's default of 64 MB is too small. */
const least = { room: 4 * gib, memory: 8 * gib };

/**
 * A folder in memory for the servers of this checkout and user, which is not made here; undefined where there is none,
 * or not enough memory. Postgres makes 300 files for each database, which some disks take half a second for, all of it
 * work for the processor.
 */
export async function runsInMemory(): Promise<string | undefined> {
  try {
    const { type, bavail, bsize } = await statfs(place);
    const hasRoom = bavail * bsize >= least.room && process.availableMemory() >= least.memory;
    if (type !== tmpfs || !hasRoom) return undefined;
  } catch {
    return undefined;
  }
  const checkout = createHash('sha256').update(projectDirectory).digest('hex').slice(0, 12);
  return path.join(place, `strandline-${String(process.getuid?.())}-${checkout}`);
}
