import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import path from 'node:path';
import { fail, findingsOf, pass, warn, type Check, type Finding, type Verdict } from '@strandline/core';

/** What was found of the directory of a file store. */
export interface DirectoryFacts {
  readonly directory: string;
  /** The directory itself, or the nearest one above it that is there, in which it would be made. */
  readonly nearest: string;
  readonly isWritable: boolean;
  /** Null where the platform does not tell, or not in these terms. */
  readonly fileSystem: FileSystem | null;
  /** Bytes; null where the platform does not tell. */
  readonly free: number | null;
}

type FileSystem = 'local' | 'network' | 'memory' | 'container';

/** What statfs(2) of Linux says: man7.org/linux/man-pages/man2/statfs.2.html */
const KINDS: ReadonlyMap<number, FileSystem> = new Map([
  [0x01021994, 'memory'], // tmpfs
  [0x858458f6, 'memory'], // ramfs
  [0x6969, 'network'], // NFS
  [0xff534d42, 'network'], // CIFS
  [0xfe534d42, 'network'], // SMB 2
  [0x517b, 'network'], // SMB
  [0x65735546, 'network'], // FUSE, which most file systems over a network are
  [0x01021997, 'network'], // 9P
  [0x794c7630, 'container'], // overlayfs
]);

/** An offset is a few kilobytes, and the new one is written beside the old one. */
const LITTLE = 64 * 1_048_576;
const NONE = 1_048_576;

const SURVIVES =
  'The offset must be there after a restart: Postgres can stand in for a lost one, MySQL can not.';

export const FILE_CHECKS: readonly Check<DirectoryFacts>[] = [
  {
    check: 'file-directory',
    why: 'Each commit writes a new file into it.',
    judge: ({ directory, nearest, isWritable }: DirectoryFacts): Verdict | null => {
      const isThere = nearest === directory;
      if (isWritable) return pass(isThere ? directory : `${directory}, made at the first use`);
      return fail(
        `${nearest} is not writable for this user`,
        `sudo install --directory --owner=$(id -un) ${directory}`,
      );
    },
  },
  { check: 'file-system', why: SURVIVES, judge: fileSystemVerdict },
  {
    check: 'file-space',
    why: 'On a full disk no offset is saved: the pipeline goes on up to its window, and pauses.',
    judge: ({ free, directory }: DirectoryFacts): Verdict | null => {
      if (free === null) return null;
      const found = `${String(Math.floor(free / 1_048_576))} MiB free`;
      const remedy = `Make room on the disk of ${directory}: df ${directory}`;
      if (free < NONE) return fail(found, remedy);
      return free < LITTLE ? warn(found, remedy) : pass(found);
    },
  },
];

function fileSystemVerdict({ fileSystem }: DirectoryFacts): Verdict | null {
  switch (fileSystem) {
    case null:
      return null;
    case 'local':
      return pass('a local disk');
    case 'network':
      return warn(
        'a network file system: what is synced, and what two machines see, is its own affair',
        'Take a directory on a local disk, or redisOffsets({ … }) for pipelines of several machines.',
      );
    case 'memory':
      return warn(
        'in memory (tmpfs): a restart of the machine empties it',
        'Take a directory on a local disk.',
      );
    case 'container':
      return warn(
        "a container's own layer: it goes with the container",
        'Mount a volume there: docker run --volume strandline-offsets:<directory> …',
      );
  }
}

/** Looks at the directory, and makes nothing. */
export async function diagnoseDirectory(directory: string): Promise<readonly Finding[]> {
  const nearest = await nearestOf(directory);
  const isWritable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const stats = await statfs(nearest).catch(() => null);
  return findingsOf(FILE_CHECKS, {
    ...{ directory, nearest, isWritable },
    // Other platforms number their file systems in other ways.
    fileSystem:
      stats === null || process.platform !== 'linux' ? null : (KINDS.get(stats.type >>> 0) ?? 'local'),
    free: stats === null ? null : stats.bavail * stats.bsize,
  });
}

async function nearestOf(directory: string): Promise<string> {
  const isThere = await access(directory).then(
    () => true,
    () => false,
  );
  const above = path.dirname(directory);
  return isThere || above === directory ? directory : nearestOf(above);
}

export const MEMORY_CHECKS: readonly Check<null>[] = [
  {
    check: 'memory-offsets',
    why: SURVIVES,
    judge: (): Verdict =>
      warn(
        'offsets are kept in memory: nothing of them is left when the process ends',
        "fileOffsets({ directory: './offsets' }) on one machine, or redisOffsets({ url })",
      ),
  },
];

export function diagnoseMemory(): readonly Finding[] {
  return findingsOf(MEMORY_CHECKS, null);
}
