import { rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { testOutbox, testRedis, waitUntil, type TestOutbox, type TestRedis } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { CommandFolder, CONFIG, type Answered } from './strandline-command.js';

/** Processes are started one after the other, on a machine that may have two busy cores. */
const PATIENCE = 180_000;
const SECRET = 'the-payload-of-4711';

interface Instance {
  readonly pid: number;
  readonly epoch: number | null;
  readonly details: {
    readonly turns: readonly { readonly key: string; readonly id: string; readonly age: number }[];
    readonly failing: readonly object[];
    readonly hot: readonly object[];
    readonly oldest: object | null;
    readonly backoff: number;
  } | null;
}

interface Report {
  readonly owner: Instance | null;
  readonly standbys: readonly Instance[];
  readonly others: readonly Instance[];
  readonly offset: { readonly watermark: string; readonly epoch: number } | null;
  readonly lag: {
    readonly events: number | null;
    readonly bytes: number | null;
    readonly seconds: number | null;
  };
  readonly log: { readonly head: string } | null;
  readonly bookmarks: number | null;
  readonly unasked: readonly { readonly place: string; readonly code: string | null }[];
  readonly problems: readonly string[];
}

/** A URL of this one, where nobody listens. */
async function nowhere(url: string): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const other = new URL(url);
  other.host = `127.0.0.1:${String(port)}`;
  return other.href;
}

/** Keys that begin with `slow` are held while there is a file `hold`, and those with `bad` fail. */
function config(
  outbox: TestOutbox,
  redis: TestRedis,
  urls: { source?: string; redis?: string } = {},
): string {
  const choice = outbox.sourceChoice();
  const [name, options] =
    'mysql' in choice ? (['mysql', choice.mysql] as const) : (['postgres', choice.postgres] as const);
  const source = {
    ...options,
    ...(urls.source === undefined ? {} : { url: urls.source }),
    connectTimeout: 2_000,
  };
  const offsets = { url: urls.redis ?? redis.url, keyPrefix: redis.prefix, connectTimeout: 1_000 };
  return `import { definePipeline, redisOffsets, ${name} } from 'strandline';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { existsSync } from 'node:fs';
    export default definePipeline({
      name: 'orders',
      source: ${name}(${JSON.stringify(source)}),
      offsets: redisOffsets(${JSON.stringify(offsets)}),
      retry: { attempts: Infinity, initialDelay: 600000, maxDelay: 600000, jitter: 'none' },
      async handle({ key }) {
        while (key.startsWith('slow') && existsSync('hold')) await sleep(20);
        if (key.startsWith('bad')) throw Object.assign(new TypeError('no stock'), { code: 'E_STOCK' });
      },
    });`;
}

describe.each(['postgres', 'mysql'] as const)('strandline status on %s', (kind) => {
  test(
    'tells from outside who runs a pipeline, how far it is, and what holds it up',
    { timeout: PATIENCE },
    async () => {
      await using outbox = await testOutbox(kind);
      await using redis = await testRedis();
      await using folder = new CommandFolder();
      writeFileSync(folder.file(CONFIG), config(outbox, redis));
      writeFileSync(folder.file('hold'), '');
      const asks = (...args: string[]): Promise<Answered> => folder.ask(['status', ...args]);
      const tells = async (...args: string[]): Promise<Report & { code: number }> => {
        const { code, stdout, stderr } = await asks('--json', ...args);
        expect(stderr).toBe('');
        const [report] = (JSON.parse(stdout) as { readonly pipelines: readonly Report[] }).pipelines;
        if (report === undefined) throw new Error('there is no pipeline in the answer');
        return { ...report, code };
      };

      // On Postgres there is no slot to be asked about yet.
      const before = await tells();
      expect(before).toMatchObject({ code: 1, owner: null, standbys: [], offset: null, bookmarks: 0 });
      expect(before.problems).toContain('no process runs it, and none ever has');

      const first = folder.start(['run']);
      await first.says('"msg":"ready: running orders"');
      const second = folder.start(['run']);
      await second.says('standing by');
      const [, slow1] = await outbox.insert(
        ['fine', 'slow', 'bad', 'slow', 'fine'].map((key) => ({
          key,
          payload: JSON.stringify({ text: SECRET }),
        })),
      );
      const busy = await waitUntil('the owner tells what it works at', async () => {
        const report = await tells();
        return report.owner?.details?.backoff === 1 && report.standbys.length === 1 ? report : null;
      });
      expect(busy).toMatchObject({
        ...{ code: 0, problems: [], unasked: [], others: [], bookmarks: 0 },
        owner: {
          pid: first.child.pid,
          epoch: busy.offset?.epoch,
          details: {
            turns: [{ key: 'slow', id: slow1 }],
            failing: [
              {
                key: 'bad',
                state: 'backoff',
                attempt: 1,
                error: { name: 'TypeError', code: 'E_STOCK', message: 'no stock' },
              },
            ],
            hot: [{ key: 'slow', events: 2 }],
            oldest: { key: 'slow', id: slow1 },
          },
        },
        standbys: [{ pid: second.child.pid }],
      });
      expect(busy.lag.events).toBe(3);
      expect(busy.lag.bytes).toBeGreaterThan(0);
      expect(busy.lag.seconds).not.toBeNull();

      const shown = await asks();
      expect(shown.code, shown.stderr).toBe(0);
      expect(shown.stdout).toMatch(
        new RegExp(`^orders {2}running on \\S+ \\(pid ${String(first.child.pid)}\\) since `),
      );
      expect(shown.stdout).toMatch(/slow +event \d+ +attempt 1 +for /);
      expect(shown.stdout).toMatch(/bad +backoff, 1 attempt in .*TypeError E_STOCK: no stock/);
      expect(shown.stdout + JSON.stringify(busy)).not.toContain(SECRET);
      expect(shown.stdout).not.toContain('\u001b');

      // The source is away for who looks, and not for the owner; and the other way round the store.
      const { url } = outbox;
      writeFileSync(folder.file('no-source.ts'), config(outbox, redis, { source: await nowhere(url) }));
      const noSource = await tells('-c', 'no-source.ts');
      expect(noSource).toMatchObject({
        code: 1,
        log: null,
        owner: { pid: first.child.pid },
        unasked: [{ place: 'source' }],
      });
      writeFileSync(folder.file('no-redis.ts'), config(outbox, redis, { redis: await nowhere(redis.url) }));
      const noRedis = await tells('-c', 'no-redis.ts');
      expect(noRedis).toMatchObject({
        ...{ code: 1, owner: null, offset: null },
        unasked: [{ place: 'offsets', code: 'OFFSETS_UNAVAILABLE' }],
      });
      expect(noRedis.log?.head).toEqual(expect.any(String));
      const secrets = [new URL(url).password, new URL(redis.url).password].filter((text) => text !== '');
      for (const secret of secrets) expect(JSON.stringify([noSource, noRedis])).not.toContain(secret);

      // A look that goes on sees one owner die and the other take over.
      const watching = folder.start(['status', '--watch']);
      const shows = (pid: number | undefined): (() => boolean) => {
        const owner = `orders  running on `;
        return () =>
          watching.stdout
            .split('\n')
            .some((line) => line.startsWith(owner) && line.includes(`(pid ${String(pid)})`));
      };
      await waitUntil('it shows the first owner', shows(first.child.pid));
      await first.kill();
      await waitUntil('it shows the second owner', shows(second.child.pid), { deadlineMs: 30_000 });
      watching.child.kill('SIGINT');
      expect(await watching.exitCode(), watching.stderr).toBe(0);

      second.child.kill('SIGTERM');
      rmSync(folder.file('hold'));
      expect(await second.exitCode(), second.stderr).toBe(0);
      // Who left is gone at once, who was killed is forgotten after a few seconds.
      const after = await waitUntil('nobody is known any more', async () => {
        const report = await tells();
        expect(report).toMatchObject({ code: 1, owner: null, standbys: [] });
        return report.others.length === 0 ? report : null;
      });
      expect(after.problems).toEqual(['no process runs it']);
      expect(after.offset?.watermark).toEqual(expect.any(String));
    },
  );
});
