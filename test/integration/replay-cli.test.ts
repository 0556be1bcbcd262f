import { rowsInTurn, testOutbox, waitUntil, type TestOutbox } from '@strandline/test-kit';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CommandFolder, CONFIG, type StrandlineCommand } from './strandline-command.js';

const PAYLOAD = 'the-payload-of-4711';
const KEYS = 3;
const PATIENCE = 120_000;

/**
 * A pipeline in processes of its own. Its live handler never ends with the first event, which keeps Postgres' log, and a
 * replay waits with the key k1 while there is a file `held`.
 */
class Shop implements AsyncDisposable {
  readonly folder = new CommandFolder();

  constructor(readonly outbox: TestOutbox) {
    const choice = outbox.sourceChoice();
    const source =
      'mysql' in choice
        ? `mysql(${JSON.stringify(choice.mysql)})`
        : `postgres(${JSON.stringify(choice.postgres)})`;
    writeFileSync(
      this.folder.file(CONFIG),
      `import { definePipeline, fileOffsets, mysql, postgres } from 'strandline';
      import { appendFileSync, existsSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      export default definePipeline({
        name: 'orders',
        source: ${source},
        offsets: fileOffsets({ directory: 'offsets' }),
        async handle({ id, key }, { replay, signal }) {
          if (!replay && key === 'anchor') await sleep(1e9, undefined, { signal });
          while (replay && key === 'k1' && existsSync('held')) await sleep(10);
          appendFileSync(replay ? 'replayed' : 'handled', key + ' ' + id + '\\n');
        },
      });`,
    );
  }

  hold(): void {
    writeFileSync(this.folder.file('held'), '');
  }

  release(): void {
    rmSync(this.folder.file('held'));
  }

  /** Lines of the keys that are not the anchor's. */
  lines(file: 'handled' | 'replayed', key = 'k'): string[] {
    const name = this.folder.file(file);
    if (!existsSync(name)) return [];
    return readFileSync(name, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(key));
  }

  /** The live pipeline, which has handled so many events. */
  async runs(events: number): Promise<void> {
    const run = this.folder.start(['run']);
    await run.says('"msg":"ready: running orders"');
    await this.outbox.insert([{ key: 'anchor' }]);
    const payload = JSON.stringify({ text: PAYLOAD });
    await this.outbox.insert(rowsInTurn(events, KEYS).map((row) => ({ ...row, payload })));
    await waitUntil('all are handled', () => this.lines('handled').length === events);
  }

  async asks(...args: string[]): Promise<StrandlineCommand & { readonly code: number | null }> {
    const command = this.folder.start(args);
    const code = await command.exitCode();
    return Object.assign(command, { code });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.folder[Symbol.asyncDispose]();
  }
}

describe.each(['postgres', 'mysql'] as const)('on %s', (kind) => {
  test(
    'strandline replay runs beside the pipeline, and goes on after it was interrupted',
    { timeout: PATIENCE },
    async () => {
      await using outbox = await testOutbox(kind);
      await using shop = new Shop(outbox);
      await shop.runs(30);

      const refused = await shop.asks('replay', '--from', 'earliest');
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toContain('CLI_CONFIRMATION');
      const counted = await shop.asks('replay', '--from', 'earliest', '--key', 'k2', '--dry-run', '--json');
      expect(counted.code, counted.stderr).toBe(0);
      expect(JSON.parse(counted.stdout)).toMatchObject({
        state: 'completed',
        events: 10,
        skipped: 21,
        keys: 1,
      });
      expect(shop.lines('replayed')).toEqual([]);

      shop.hold();
      const first = shop.folder.start(['replay', '--from', 'earliest', '--yes']);
      await waitUntil('the other keys are replayed', () => shop.lines('replayed').length === 20);
      first.child.kill('SIGINT');
      await first.says('interrupting');
      shop.release();
      expect(await first.exitCode(), first.stderr).toBe(3);
      expect(first.stdout).toContain('orders-replay: interrupted: ');
      const [again = ''] = /strandline replay .*/.exec(first.stderr) ?? [];
      expect(again).toBe('strandline replay --from=earliest --yes');

      const other = await shop.asks('replay', '--from', 'earliest', '--key', 'k1', '--yes');
      expect(other.code).toBe(1);
      expect(other.stderr).toContain('REPLAY_UNFINISHED');

      const rest = await shop.asks(...again.split(' ').slice(1));
      expect(rest.code, rest.stderr).toBe(0);
      expect(rest.stdout).toContain('orders-replay: completed: ');
      for (const key of ['k0', 'k1', 'k2'])
        expect(shop.lines('replayed', key)).toEqual(shop.lines('handled', key));

      await outbox.insert(rowsInTurn(3, KEYS));
      await waitUntil('the live pipeline goes on', () => shop.lines('handled').length === 33);
    },
  );

  test('a replay that was killed goes on, and loses and swaps nothing', { timeout: PATIENCE }, async () => {
    await using outbox = await testOutbox(kind);
    await using shop = new Shop(outbox);
    await shop.runs(30);
    shop.hold();
    const killed = shop.folder.start(['replay', '--from', 'earliest', '--yes']);
    await waitUntil('the other keys are replayed', () => shop.lines('replayed').length === 20);
    await killed.kill();
    shop.release();
    const rest = await shop.asks('replay', '--from', 'earliest', '--yes');
    expect(rest.code, rest.stderr).toBe(0);
    for (const key of ['k0', 'k1', 'k2']) {
      // What was handled since the last commit comes again, behind all that was handled.
      expect([...new Set(shop.lines('replayed', key))]).toEqual(shop.lines('handled', key));
    }
    expect(shop.lines('replayed', 'k1')).toHaveLength(10);
  });

  test(
    'strandline tail tells what commits, in commit order, without payloads',
    { timeout: PATIENCE },
    async () => {
      await using outbox = await testOutbox(kind);
      await using shop = new Shop(outbox);
      await shop.runs(9);

      const told = await shop.asks('tail', '--from', 'earliest', '--key', 'k1', '--limit', '3', '--json');
      expect(told.code, told.stderr).toBe(0);
      const events = told.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, string>);
      expect(events.map(({ id }) => `k1 ${String(id)}`)).toEqual(shop.lines('handled', 'k1'));
      expect(told.stdout).not.toContain(PAYLOAD);
      const after = events[0]?.['position'] ?? '';
      const full = await shop.asks('tail', `--from=${after}`, '--limit=1', '--payload');
      expect(full.stdout).toMatch(new RegExp(`k2  .*${PAYLOAD}`));

      const live = shop.folder.start(['tail', '--from', 'earliest']);
      await waitUntil('it has told all', () => live.stdout.split('\n').length > 10);
      await outbox.insert([{ key: 'new' }]);
      await waitUntil('it has told the new one', () => live.stdout.includes('  new  '));
      live.child.kill('SIGINT');
      expect(await live.exitCode(), live.stderr).toBe(0);

      // As `tail | head` does it.
      const cutOff = shop.folder.start(['tail', '--from', 'earliest']);
      cutOff.child.stdout.destroy();
      expect(await cutOff.exitCode(), cutOff.stderr).toBe(0);
      const wrong = await shop.asks('tail', '--from', 'no-such-bookmark');
      expect([wrong.code, wrong.stdout]).toEqual([1, '']);
      expect(wrong.stderr).toContain('REPLAY_BOOKMARK');
    },
  );
});
