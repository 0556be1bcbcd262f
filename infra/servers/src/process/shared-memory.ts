import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from './run-program.js';

/**
 * A killed postmaster leaves its System V segment (56 bytes, one of the machine's 4,096) for the next start on the
 * same data to take over. Data that is thrown away has no next start, so the segment is removed with it. Of other
 * servers' data there is nothing to release.
 */
export async function releaseSharedMemory(dataDirectory: string): Promise<void> {
  // The seventh line of the pid file, which an orderly end removes: key and id of the segment.
  const lines = await readFile(path.join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const id = /^\s*\d+\s+(\d+)\s*$/.exec(lines.split('\n')[6] ?? '')?.[1];
  // Someone may have removed it; and macOS without ipcrm would not be a reason to fail a test.
  if (id !== undefined) await runProgram({ file: 'ipcrm', args: ['-m', id] }, '/').catch(() => undefined);
}
