import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileError } from '../src/errors.js';
import { fileOffsets, OffsetsError } from '../src/index.js';

const owner = fileURLToPath(new URL('owner.mjs', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strandline-files-'));
});
afterEach(() => rm(directory, { recursive: true }));

interface Told {
  readonly claimed?: number;
  readonly saved?: number;
  readonly restored?: number;
  readonly watermark: number;
}

/** Starts an owner; `told` grows by what it says. */
function start(rounds: number, commits: number, told: Told[]): ChildProcess {
  const child = fork(owner, [directory, String(rounds), String(commits)]);
  child.on('message', (event) => told.push(event as Told));
  return child;
}

describe('an offset that is replaced', () => {
  const seed = { identity: { system: '7301' }, watermark: '0/1:0' };
  const change = { ...seed, watermark: '0/2:0', completed: [] };

  it('also behind a process that died right after it took the next epoch', async () => {
    await using store = fileOffsets({ directory });
    const read = await store.claim('shop', seed);
    await writeFile(path.join(directory, 'shop', `${String(read.epoch + 1)}.claim`), '');
    expect(await store.replace('shop', read, change)).toBe('replaced');
    expect(await store.load('shop')).toMatchObject({ watermark: '0/2:0', epoch: read.epoch + 2 });
    expect((await store.claim('shop', seed)).epoch).toBe(read.epoch + 3);
  });

  it('waits for a process that is taking the next epoch, and then is refused', async () => {
    await using store = fileOffsets({ directory });
    const read = await store.claim('shop', seed);
    const folder = path.join(directory, 'shop');
    await writeFile(path.join(folder, '2.claim'), '');
    const replacing = store.replace('shop', read, change);
    const claimed = { ...read, epoch: 2 };
    const text = JSON.stringify({ format: 1, pipeline: 'shop', ...claimed });
    await writeFile(path.join(folder, '2.tmp'), text);
    await rename(path.join(folder, '2.tmp'), path.join(folder, '2.json'));
    expect(await replacing).toBe('changed');
    expect(await store.load('shop')).toEqual(claimed);
    expect(await store.commit('shop', { ...claimed, revision: 1 })).toBe('saved');
  });
});

// Each process takes a moment to start.
describe('processes that share a directory', { timeout: 60_000 }, () => {
  it('never lose a commit that was saved, however they take over from each other', async () => {
    const told: Told[] = [];
    const children = Array.from({ length: 4 }, () => start(25, 8, told));
    const codes = await Promise.all(children.map((child) => once(child, 'exit')));
    expect(codes.map(([code]) => code as unknown)).toEqual([0, 0, 0, 0]);

    const claims = told.filter((event) => event.claimed !== undefined);
    expect(claims).toHaveLength(100);
    expect(new Set(claims.map((event) => event.claimed)).size).toBe(100);
    expect(told.filter((event) => event.restored !== undefined)).toEqual([]);
    const saved = told.filter((event) => event.saved !== undefined);
    expect(saved.length).toBeGreaterThan(0);
    for (const claim of claims) {
      const before = saved.filter((event) => (event.saved ?? 0) < (claim.claimed ?? 0));
      expect(Math.max(0, ...before.map((event) => event.watermark))).toBeLessThanOrEqual(claim.watermark);
    }
  });

  it('can be killed at any moment: what was saved is there, whole, and can be claimed at once', async () => {
    const told: Told[] = [];
    for (let kill = 0; kill < 8; kill += 1) {
      const enough = told.length + 3 + kill * 5;
      const child = start(1_000, 4, told);
      while (told.length < enough) await once(child, 'message');
      child.kill('SIGKILL');
      await once(child, 'exit');
      await using store = fileOffsets({ directory });
      const held = await store.load('shop');
      const last = told.findLast((event) => event.saved !== undefined || event.claimed !== undefined);
      expect(Number(held?.watermark)).toBeGreaterThanOrEqual(last?.watermark ?? 0);
    }
    await using store = fileOffsets({ directory });
    const { epoch } = await store.claim('shop', { identity: {}, watermark: '0' });
    // What the killed ones left half done is cleared away by the next claim.
    const left = await readdir(path.join(directory, 'shop'));
    expect(left.sort()).toEqual([`${String(epoch)}.claim`, `${String(epoch)}.json`]);
  });
});

describe('a directory that can not be used', () => {
  const seed = { identity: {}, watermark: '0' };

  it('is a file', async () => {
    const file = path.join(directory, 'file');
    await writeFile(file, '');
    await using store = fileOffsets({ directory: file });
    await expect(store.claim('shop', seed)).rejects.toMatchObject({ code: 'OFFSETS_CONFIG' });
    await expect(store.load('shop')).rejects.toMatchObject({ code: 'OFFSETS_CONFIG' });
  });

  it('belongs to somebody else: the error says which, and it goes on when that is put right', async () => {
    await using store = fileOffsets({ directory: path.join(directory, 'offsets') });
    await chmod(directory, 0o500);
    await withoutPrivileges(async () => {
      const error: unknown = await store.claim('shop', seed).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE', cause: { code: 'EACCES' } });
      expect((error as Error).message).toContain(directory);
    });
    await chmod(directory, 0o700);
    expect(await store.claim('shop', seed)).toMatchObject({ epoch: 1 });
  });

  it.each([
    ['ENOSPC', 'OFFSETS_UNAVAILABLE', 'No space'],
    ['EDQUOT', 'OFFSETS_UNAVAILABLE', 'No space'],
    ['EACCES', 'OFFSETS_UNAVAILABLE', 'Not allowed'],
    ['EROFS', 'OFFSETS_UNAVAILABLE', 'Not allowed'],
    ['EIO', 'OFFSETS_UNAVAILABLE', 'EIO'],
    ['ENOTDIR', 'OFFSETS_CONFIG', 'no directory'],
  ])('says what %s means', (code, expected, says) => {
    const cause = Object.assign(new Error(`${code}: told by the system`), { code });
    const error = fileError(cause, '/var/offsets');
    expect(error).toMatchObject({ code: expected, cause });
    expect(error.message).toContain('/var/offsets');
    expect(error.message).toContain(says);
  });

  it.each([undefined, {}, { directory: '' }, { directory: 7 }])('options %j', (options) => {
    expect(() => fileOffsets(options as { directory: string })).toThrow(OffsetsError);
  });
});

/** The superuser may write everywhere. */
async function withoutPrivileges(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
