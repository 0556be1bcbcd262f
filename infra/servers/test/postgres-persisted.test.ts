import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres } from '../src/index.js';
import { makeCacheDirectory } from '../src/project-paths.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(await makeCacheDirectory('tests'), 'persisted-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a persisted Postgres keeps its data and password over its end, and over being killed', async () => {
  const first = await startPostgres({ persistTo: folder });
  await first.createDatabase('kept');
  await first[Symbol.asyncDispose]();

  const second = await startPostgres({ persistTo: folder });
  expect(new URL(second.url).password).toBe(new URL(first.url).password);
  await expect(second.createDatabase('kept')).rejects.toMatchObject({ code: '42P04' });
  await second.kill();
  await second[Symbol.asyncDispose]();

  const third = await startPostgres({ persistTo: folder });
  await expect(third.createDatabase('kept')).rejects.toMatchObject({ code: '42P04' });
  await third[Symbol.asyncDispose]();
}, 60_000);
