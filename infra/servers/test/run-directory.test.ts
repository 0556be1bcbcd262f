import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRunDirectory, removeRunDirectory, runsVariable } from '../src/process/run-directory.js';
import { cacheDirectory } from '../src/project-paths.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'strandline-runs-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function placeOfOne(): Promise<string> {
  const directory = await createRunDirectory('test');
  await removeRunDirectory(directory);
  return path.dirname(directory);
}

describe('the data of servers', () => {
  test('is in the cache', async () => {
    vi.stubEnv(runsVariable, undefined);
    expect(await placeOfOne()).toBe(path.join(cacheDirectory, 'runs'));
  });

  test('is in the folder that the environment names, which is made', async () => {
    const named = path.join(folder, 'made', 'here');
    vi.stubEnv(runsVariable, named);
    expect(await placeOfOne()).toBe(named);
  });

  test.runIf(process.getuid?.() === 0)('is not put into a folder of another user', async () => {
    await chown(folder, 65_534, 65_534);
    vi.stubEnv(runsVariable, folder);
    await expect(createRunDirectory('test')).rejects.toThrow(`${folder}, which ${runsVariable} names`);
  });
});
