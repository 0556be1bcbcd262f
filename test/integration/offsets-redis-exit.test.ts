import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const nobody = "{ host: '127.0.0.1', port: 1 }";

/**
 * A process ends by itself when nothing keeps it: no socket, no timer. It runs on the build, and nothing in it
 * calls `process.exit`.
 */
describe('nothing is left behind', () => {
  const cases: readonly (readonly [what: string, prints: string, script: string])[] = [
    ['by a store that was never used', '', `redisOffsets({ url: process.env.REDIS });`],
    [
      'by a start that failed, even without close',
      'OFFSETS_UNAVAILABLE',
      `
      const store = redisOffsets({ connection: ${nobody}, connectTimeout: 300 });
      await store.load('shop').catch(({ code }) => console.log(code));`,
    ],
    [
      'by a store that was closed',
      '',
      `
      const store = redisOffsets({ url: process.env.REDIS });
      await store.load('shop');
      await store.close();`,
    ],
    [
      'by a store that was closed while it connects',
      'OFFSETS_CLOSED',
      `
      const store = redisOffsets({ url: process.env.REDIS });
      const loading = store.load('shop').catch(({ code }) => console.log(code));
      await store.close();
      await loading;`,
    ],
    [
      'by a store that was closed while it connects in vain',
      'OFFSETS_CLOSED',
      `
      const store = redisOffsets({ connection: ${nobody} });
      const loading = store.load('shop').catch(({ code }) => console.log(code));
      await new Promise((resolve) => setTimeout(resolve, 200));
      await store.close();
      await loading;`,
    ],
    [
      'by refused credentials',
      'OFFSETS_AUTH',
      `
      const url = new URL(process.env.REDIS);
      url.password = 'wrong';
      await redisOffsets({ url: url.href }).load('shop').catch(({ code }) => console.log(code));`,
    ],
    [
      'by sentinels that are away',
      'OFFSETS_UNAVAILABLE',
      `
      const connection = { sentinels: [${nobody}], name: 'shop' };
      const store = redisOffsets({ connection, connectTimeout: 300 });
      await store.load('shop').catch(({ code }) => console.log(code));
      await store.close();`,
    ],
    [
      'by a cluster that is away',
      'OFFSETS_UNAVAILABLE',
      `
      const store = redisOffsets({ cluster: { nodes: [${nobody}] }, connectTimeout: 300 });
      await store.load('shop').catch(({ code }) => console.log(code));
      await store.close();`,
    ],
  ];
  for (const [what, prints, script] of cases) {
    it(what, async () => {
      const code = `import { redisOffsets } from '@strandline/offsets-redis'; ${script}`;
      const { stdout, stderr } = await promisify(execFile)('node', ['--input-type=module', '--eval', code], {
        cwd: root,
        env: { ...process.env, REDIS: inject('redisUrl') },
        timeout: 8_000,
      });
      expect(stderr).toBe('');
      expect(stdout.trim()).toBe(prints);
    });
  }
});
