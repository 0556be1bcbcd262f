import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findingsOf, type Finding } from '@strandline/core';
import { afterAll, expect, test } from 'vitest';
import { FILE_CHECKS, type DirectoryFacts } from '../src/diagnose.js';
import { fileOffsets, memoryOffsets } from '../src/index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'strandline-doctor-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const good: DirectoryFacts = {
  ...{ directory: '/var/lib/offsets', nearest: '/var/lib/offsets', isWritable: true, fileSystem: 'local' },
  free: 1e9,
};

test.each<readonly [string, Finding['result'] | undefined, Partial<DirectoryFacts>]>([
  ['file-directory', 'pass', {}],
  ['file-directory', 'pass', { nearest: '/var/lib' }],
  ['file-directory', 'fail', { nearest: '/var/lib', isWritable: false }],
  ['file-system', 'pass', {}],
  ['file-system', 'warn', { fileSystem: 'network' }],
  ['file-system', 'warn', { fileSystem: 'memory' }],
  ['file-system', 'warn', { fileSystem: 'container' }],
  ['file-system', undefined, { fileSystem: null }],
  ['file-space', 'pass', {}],
  ['file-space', 'warn', { free: 1e7 }],
  ['file-space', 'fail', { free: 0 }],
  ['file-space', undefined, { free: null }],
])('%s: %s with %j', (check, result, facts) => {
  const found = findingsOf(FILE_CHECKS, { ...good, ...facts }).find((one) => one.check === check);
  expect(found?.result).toBe(result);
});

test('a directory that is not there yet is not made by looking', async () => {
  await using store = fileOffsets({ directory: path.join(folder, 'a', 'b') });
  const findings = (await store.diagnose?.()) ?? [];
  expect(findings[0]).toMatchObject({
    ...{ check: 'file-directory', result: 'pass' },
    found: `${path.join(folder, 'a', 'b')}, made at the first use`,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('a file system in memory is known as one, on Linux', async () => {
  await using store = fileOffsets({ directory: '/dev/shm/strandline' });
  const findings = (await store.diagnose?.()) ?? [];
  expect(findings.find(({ check }) => check === 'file-system')?.result).toBe(
    process.platform === 'linux' ? 'warn' : undefined,
  );
});

test('offsets in memory are a warning', async () => {
  await using store = memoryOffsets();
  expect(await store.diagnose?.()).toMatchObject([{ check: 'memory-offsets', result: 'warn' }]);
});
