import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../src/process/run-program.js';
import { unprivilegedIdentity } from '../src/process/unprivileged.js';
import { makeCacheDirectory } from '../src/project-paths.js';

const isRoot = process.getuid?.() === 0;
const probe = { file: 'true', args: [] };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(await makeCacheDirectory('tests'), 'identity-'));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.runIf(isRoot)('started as root', () => {
  test('a server runs as another uid, which owns its folder', async () => {
    const identity = await unprivilegedIdentity(folder, probe);
    const uid = (await runProgram({ file: 'id', args: ['-u'] }, folder, identity)).trim();
    expect(uid).not.toBe('0');
    expect((await stat(folder)).uid).toBe(identity.owner?.uid);
  });

  test('it does so below a folder that only root can pass through', async () => {
    const closed = path.join(folder, 'closed');
    const data = path.join(closed, 'data');
    await mkdir(data, { recursive: true });
    await chmod(closed, 0o700);
    const identity = await unprivilegedIdentity(data, probe);
    expect(identity.prefix).not.toEqual([]);
    const script = '[ "$(id -u)" != 0 ] && : > "$0/written"';
    await runProgram({ file: 'sh', args: ['-c', script, data] }, '/', identity);
    expect((await stat(path.join(data, 'written'))).uid).toBe(identity.owner?.uid);
  });
});

test.runIf(!isRoot)('started as an ordinary user, a server runs as that user', async () => {
  expect(await unprivilegedIdentity(folder, probe)).toMatchObject({ prefix: [] });
});

test('a program that can’t be run names each identity that was tried, and the remedy', async () => {
  await expect(unprivilegedIdentity(folder, { file: '/nowhere/postgres', args: [] })).rejects.toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.stringMatching(/- as .*\/nowhere\/postgres/s) as string,
    remedy: expect.stringContaining('o+x') as string,
  });
});
