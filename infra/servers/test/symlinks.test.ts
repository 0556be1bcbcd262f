import { mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { hydrateSymlinks } from '../src/postgres/postgres-binaries.js';
import { makeCacheDirectory } from '../src/project-paths.js';

test('the library links that npm’s held-back script would make are made, by several processes at once', async () => {
  const folder = await mkdtemp(path.join(await makeCacheDirectory('tests'), 'links-'));
  await mkdir(path.join(folder, 'native', 'lib'), { recursive: true });
  await writeFile(path.join(folder, 'native', 'lib', 'libpq.so.5.18'), '');
  const links = ['libpq.so', 'libpq.so.5'].map((name) => ({
    source: 'native/lib/libpq.so.5.18',
    target: `native/lib/${name}`,
  }));
  await writeFile(path.join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links));
  await Promise.all([hydrateSymlinks(folder), hydrateSymlinks(folder), hydrateSymlinks(folder)]);
  await hydrateSymlinks(folder);
  for (const { target } of links) expect(await readlink(path.join(folder, target))).toBe('libpq.so.5.18');
  await rm(folder, { recursive: true });
});
