import { testOutbox, waitUntil, type DatabaseKind, type TestOutbox } from '@strandline/test-kit';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import type { Failure } from '@strandline/core';
import { deadLetterDesk } from 'strandline';
import { describe, expect, test } from 'vitest';
import { CommandFolder, CONFIG, type Answered } from './strandline-command.js';

/** In the errors of the handler and in connection strings, and in no answer. */
const PASSWORD = 'hunter2-and-more';
const PAYLOAD = 'the-payload-of-4711';
/** Processes are started one after the other, on a machine that may have two busy cores. */
const PATIENCE = 180_000;

interface Answer {
  readonly counts: { readonly keys: number; readonly waiting: number; readonly skipped: number };
  readonly letters: readonly { readonly id: string; readonly event: string; readonly reason: string }[];
}

interface Exported {
  readonly event: { readonly key: string; readonly id: string; readonly payloadText: string };
  readonly failure: Failure | null;
}

/** A pipeline whose handler fails for a key while there is a file of its name, in a process of its own. */
class Shop implements AsyncDisposable {
  readonly folder = new CommandFolder();
  /** All that was answered; the log of the run tells what its handler throws. */
  answers = '';

  constructor(
    readonly outbox: TestOutbox,
    readonly letters: object,
  ) {
    const choice = outbox.sourceChoice();
    const source =
      'mysql' in choice
        ? `mysql(${JSON.stringify(choice.mysql)})`
        : `postgres(${JSON.stringify(choice.postgres)})`;
    writeFileSync(
      this.folder.file(CONFIG),
      `import { deadLetters, definePipeline, fileOffsets, mysql, PermanentError, postgres } from 'strandline';
      import { appendFileSync, existsSync } from 'node:fs';
      export default definePipeline({
        name: 'orders',
        source: ${source},
        offsets: fileOffsets({ directory: 'offsets' }),
        deadLetters: deadLetters(${JSON.stringify(letters)}),
        parking: { poll: 50 },
        handle({ id, key }) {
          if (existsSync('broken-' + key))
            throw new PermanentError('no stock of ' + key + ' at postgres://shop:${PASSWORD}@db/shop');
          appendFileSync('handled', key + id + '\\n');
        },
      });`,
    );
  }

  breaks(...keys: string[]): void {
    for (const key of keys) writeFileSync(this.folder.file(`broken-${key}`), '');
  }

  isRepaired(key: string): void {
    rmSync(this.folder.file(`broken-${key}`));
  }

  insert(keys: string): Promise<string[]> {
    return this.outbox.insert(
      keys.split('').map((key) => ({ key, payload: JSON.stringify({ text: PAYLOAD }) })),
    );
  }

  /** What was handled of a key, in order. */
  handled(key: string): string[] {
    const file = this.folder.file('handled');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.filter((line) => line.startsWith(key));
  }

  async sees(key: string, ...ids: (string | undefined)[]): Promise<void> {
    const expected = ids.map((id) => `${key}${String(id)}`);
    await waitUntil(`${expected.join()} were handled`, () => this.handled(key).length >= expected.length);
    expect(this.handled(key)).toEqual(expected);
  }

  async asks(...args: string[]): Promise<Answered> {
    const answer = await this.folder.ask(['dead-letters', ...args]);
    this.answers += answer.stdout + answer.stderr;
    return answer;
  }

  async tells(...args: string[]): Promise<Answer> {
    const { code, stdout, stderr } = await this.asks(...args, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Answer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.folder[Symbol.asyncDispose]();
  }
}

function placeOf(
  kind: DatabaseKind,
  { url }: TestOutbox,
): { postgres: { url: string } } | { mysql: { url: string } } {
  return kind === 'postgres' ? { postgres: { url } } : { mysql: { url } };
}

describe.each(['postgres', 'mysql'] as const)('strandline dead-letters on %s', (kind) => {
  test(
    'looks at what failed in another process, and decides about it while that runs',
    { timeout: PATIENCE },
    async () => {
      await using outbox = await testOutbox(kind);
      const place = placeOf(kind, outbox);
      await using shop = new Shop(outbox, place);
      shop.breaks('a', 'b', 'd');
      const run = shop.folder.start(['run']);
      await run.says('"msg":"ready: running orders"');
      const [a1, b2, d3, a4, b5, d6, c7, a8] = await shop.insert('abdabdca');
      await shop.sees('c', c7);
      const desk = deadLetterDesk(place);
      await waitUntil('all of them wait', async () => (await desk.counts('orders')).waiting === 7);
      await desk.close();

      const listed = await shop.asks('list', '--key', 'a');
      expect(listed.code, listed.stderr).toBe(0);
      expect(listed.stdout).toContain('PermanentError: no stock of a at postgres://***@db/shop');
      expect(listed.stdout).toContain(
        '3 letters shown\norders: 3 keys with 7 letters that wait, 0 letters skipped\n',
      );
      expect(listed.stdout).not.toContain(PAYLOAD);
      const { letters } = await shop.tells('list', '--key', 'a');
      expect(letters.map(({ event, reason }) => [event, reason])).toEqual([
        [a1, 'failed'],
        [a4, 'behind'],
        [a8, 'behind'],
      ]);

      const shown = await shop.asks('show', letters[0]?.id ?? '');
      expect(shown.code, shown.stderr).toBe(0);
      for (const text of [PAYLOAD, 'no stock of a', CONFIG]) expect(shown.stdout).toContain(text);
      const failures =
        /^failures:\n {2}1 {2}\S+Z {2}PermanentError: no stock of a at postgres:\/\/\*\*\*@db\/shop$/m;
      expect(shown.stdout).toMatch(failures);

      const exported = await shop.asks('export');
      const lines = exported.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Exported);
      const ofKey = (key: string): string[] =>
        lines.flatMap(({ event }) => (event.key === key ? [event.id] : []));
      expect([ofKey('a'), ofKey('b'), ofKey('d')]).toEqual([
        [a1, a4, a8],
        [b2, b5],
        [d3, d6],
      ]);
      expect(lines.map(({ event }) => event.key).join('')).toMatch(/^(aaa|bb|dd){3}$/);
      expect(lines[0]?.event.payloadText).toContain(PAYLOAD);
      expect(lines[0]?.failure?.history).toMatchObject([
        { first: 1, last: 1, error: { name: 'PermanentError' } },
      ]);
      expect(exported.stderr).toContain('7 letters exported\n');

      // As `export | head` does it.
      const cutOff = shop.folder.start(['dead-letters', 'export']);
      cutOff.child.stdout.destroy();
      expect(await cutOff.exitCode(), cutOff.stderr).toBe(0);

      const refused = await shop.asks('discard', '--key', 'b');
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('CLI_CONFIRMATION');

      shop.isRepaired('d');
      expect(await shop.tells('skip', '--key', 'd', '--yes')).toMatchObject({ skipped: { event: d3 } });
      await shop.sees('d', d6);

      expect(await shop.tells('discard', '--key', 'b', '--yes')).toMatchObject({
        discarded: 2,
        counts: { keys: 1 },
      });
      shop.isRepaired('b');
      const [b9] = await shop.insert('b');
      await shop.sees('b', b9);

      // One that fails again is parked again at the same place; what comes meanwhile is behind it.
      expect(await shop.tells('retry', '--key', 'a')).toMatchObject({ released: ['a'] });
      await run.says('a released letter failed for good');
      const [a10] = await shop.insert('a');
      shop.isRepaired('a');
      expect(await shop.tells('retry', '--error', 'no stock of a', '--older-than', '0s')).toMatchObject({
        released: ['a'],
      });
      await shop.sees('a', a1, a4, a8, a10);

      expect(await shop.tells('retry', '--state', 'skipped', '--yes')).toMatchObject({ released: ['d'] });
      await shop.sees('d', d6, d3);

      run.child.kill('SIGTERM');
      expect(await run.exitCode(), run.stderr).toBe(0);
      expect(await shop.tells('list')).toMatchObject({
        counts: { keys: 0, waiting: 0, skipped: 0 },
        letters: [],
      });
      expect(shop.answers).not.toContain(PASSWORD);
    },
  );
});

test('a table out of reach: one message with code and remedy, 1, and no password', async () => {
  await using outbox = await testOutbox('postgres');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const url = `postgres://shop:${PASSWORD}@127.0.0.1:${String(port)}/shop`;
  await using shop = new Shop(outbox, { postgres: { url } });

  const { code, stdout, stderr } = await shop.asks('list', '--verbose');

  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /^strandline: LETTERS_UNAVAILABLE \(pipeline orders\)\n {2}The dead-letter table at .*\n {2}Check that/,
  );
  expect(stderr).toMatch(/\n +at /);
  expect(stderr).not.toContain(PASSWORD);
});
