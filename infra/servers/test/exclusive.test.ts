import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exclusively } from '../src/process/exclusive.js';
import { ownIdentity } from '../src/process/run-directory.js';
import { makeCacheDirectory } from '../src/project-paths.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(await makeCacheDirectory('tests'), 'lock-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('one at a time, and the lock goes also when the work fails', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, (inside += 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
    throw new Error('failed');
  };
  const lock = path.join(folder, 'a.lock');
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => exclusively(lock, work)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(most).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

test('a lock whose holder is dead is taken over', async () => {
  const lock = path.join(folder, 'b.lock');
  await mkdir(lock);
  // Our own pid with another start time: the process that had it before us.
  await writeFile(path.join(lock, 'holder.json'), JSON.stringify({ ...ownIdentity(), startTime: '1' }));
  expect(await exclusively(lock, () => Promise.resolve('done'))).toBe('done');
});
