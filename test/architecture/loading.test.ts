import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..', '..');
/** Each takes as long to load as all of ours, and a pipeline uses one or two of them. */
const LIBRARIES = ['ioredis', 'mysql2', 'pg', 'pg-logical-replication', 'prom-client', 'undici'];

/** What a process has loaded when it has imported the package as it was built; zongji is seen by its mysql2. */
test('who imports strandline loads no client library before it is used', async () => {
  const script = `
    import { createRequire } from 'node:module';
    await import('strandline');
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { cwd: path.join(root, 'test', 'kit') }, // where `strandline` is a dependency
  );
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.length).toBeGreaterThan(0);
  const folders = LIBRARIES.map((name) => path.join('node_modules', name) + path.sep);
  expect(loaded.filter((file) => folders.some((folder) => file.includes(folder)))).toEqual([]);
});
