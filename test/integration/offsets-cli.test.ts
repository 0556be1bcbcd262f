import { testOutbox, waitUntil, type TestOutbox } from '@strandline/test-kit';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CommandFolder, CONFIG, type Answered, type StrandlineCommand } from './strandline-command.js';

/** Processes are started one after the other, on a machine that may have two busy cores. */
const PATIENCE = 180_000;

interface Move {
  readonly from: string | null;
  readonly to: string | null;
  readonly direction: string | null;
  readonly bytes: number | null;
}

interface Shown {
  readonly offset: { readonly watermark: string; readonly epoch: number } | null;
  readonly log: { readonly head: string; readonly reachable: boolean | null } | null;
}

/** A pipeline that writes down what it handles, in a process of its own. */
class Shop implements AsyncDisposable {
  readonly folder = new CommandFolder();
  #run: StrandlineCommand | null = null;

  constructor(readonly outbox: TestOutbox) {
    const choice = outbox.sourceChoice();
    const source =
      'mysql' in choice
        ? `mysql(${JSON.stringify(choice.mysql)})`
        : `postgres(${JSON.stringify({ ...choice.postgres, retention: { age: 3_600_000 } })})`;
    writeFileSync(
      this.folder.file(CONFIG),
      `import { definePipeline, fileOffsets, mysql, postgres } from 'strandline';
      import { appendFileSync } from 'node:fs';
      export default definePipeline({
        name: 'orders',
        source: ${source},
        offsets: fileOffsets({ directory: 'offsets' }),
        handle({ key }) { appendFileSync('handled', key); },
      });`,
    );
  }

  /** The keys of what was handled, in order. */
  get handled(): string {
    const file = this.folder.file('handled');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  insert(keys: string): Promise<string[]> {
    return this.outbox.insert(keys.split('').map((key) => ({ key, payload: '{}' })));
  }

  async runs(): Promise<void> {
    this.#run = this.folder.start(['run']);
    await this.#run.says('"msg":"ready: running orders"');
  }

  async stops(): Promise<void> {
    this.#run?.child.kill('SIGTERM');
    expect(await this.#run?.exitCode()).toBe(0);
  }

  async sees(keys: string): Promise<void> {
    await waitUntil(`${keys} are handled`, () => this.handled.length >= keys.length);
    expect(this.handled).toBe(keys);
  }

  asks(...args: string[]): Promise<Answered> {
    return this.folder.ask(args);
  }

  async tells<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.asks(...args, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as T;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.folder[Symbol.asyncDispose]();
  }
}

describe.each(['postgres', 'mysql'] as const)('strandline offsets and bookmark on %s', (kind) => {
  test('move a stopped pipeline back and forth, and no running one', { timeout: PATIENCE }, async () => {
    await using outbox = await testOutbox(kind);
    await using shop = new Shop(outbox);
    await shop.runs();
    await shop.insert('ab');
    await shop.sees('ab');
    const { bookmark } = await shop.tells<{ bookmark: { position: string } }>('bookmark', 'create', 'deploy');
    await shop.insert('cd');
    await shop.sees('abcd');

    const refused = await shop.asks('offsets', 'set', 'deploy', '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^strandline: PIPELINE_RUNNING \(pipeline orders\)\n.*process \d+ on /);
    await shop.stops();
    const before = await shop.tells<Shown>('offsets', 'show');
    expect(before.log?.reachable).toBe(true);
    const exported = await shop.asks('offsets', 'export');
    writeFileSync(shop.folder.file('exported.json'), exported.stdout);

    // Back: what lies after the bookmark is handled again, in order, and only that.
    const set = await shop.tells<Move>('offsets', 'set', 'deploy', '--yes');
    expect(set).toMatchObject({ from: before.offset?.watermark, to: bookmark.position, direction: 'back' });
    if (kind === 'postgres') expect(set.bytes).toBeGreaterThan(0);
    await shop.runs();
    await shop.sees('abcdcd');
    await shop.stops();

    // And as if nothing had been: the change is taken back, and so is that.
    await shop.tells<Move>('offsets', 'import', 'exported.json', '--yes');
    expect((await shop.tells<Shown>('offsets', 'show')).offset?.watermark).toBe(before.offset?.watermark);
    await shop.tells<Move>('offsets', 'set', 'deploy', '--yes');
    expect(await shop.tells<Move>('offsets', 'undo', '--yes')).toMatchObject({
      ...{ from: bookmark.position, to: before.offset?.watermark, direction: 'forward' },
    });
    await shop.runs();
    await shop.insert('e');
    await shop.sees('abcdcde');
    await shop.stops();

    // Forward: what was not handled is skipped.
    await shop.insert('fg');
    expect(await shop.tells<Move>('offsets', 'set', 'now', '--yes')).toMatchObject({ direction: 'forward' });
    await shop.runs();
    await shop.insert('h');
    await shop.sees('abcdcdeh');
    await shop.stops();

    const listed = await shop.asks('bookmark', 'list');
    expect(listed.stdout).toContain('deploy');
    expect((await shop.asks('bookmark', 'delete', 'deploy', '--yes')).code).toBe(0);
    expect((await shop.asks('offsets', 'set', 'deploy', '--yes')).stderr).toContain('has no bookmark');
    const ahead = await shop.asks('offsets', 'set', 'nonsense:1', '--yes');
    expect(ahead.code).toBe(1);
  });

  test('reset makes it one that never ran, and undo puts its place back', { timeout: PATIENCE }, async () => {
    await using outbox = await testOutbox(kind);
    await using shop = new Shop(outbox);
    await shop.runs();
    await shop.insert('ab');
    await shop.sees('ab');
    await shop.stops();
    const before = await shop.tells<Shown>('offsets', 'show');
    expect((await shop.asks('offsets', 'reset')).code).toBe(2);
    expect(await shop.tells<Move>('offsets', 'reset', '--yes')).toMatchObject({ to: null });
    expect((await shop.tells<Shown>('offsets', 'show')).offset).toBeNull();
    expect((await shop.asks('offsets', 'reset', '--yes')).stderr).toContain('PIPELINE_NO_OFFSET');
    await shop.insert('c');
    await shop.tells<Move>('offsets', 'undo', '--yes');
    const after = await shop.tells<Shown>('offsets', 'show');
    expect(after.offset?.watermark).toBe(before.offset?.watermark);
    expect(after.offset?.epoch).toBeGreaterThan(before.offset?.epoch ?? Infinity);
    await shop.runs();
    await shop.sees('abc');
    await shop.stops();
  });
});
