import { databaseKinds, testOutbox, waitUntil, type TestOutbox } from '@strandline/test-kit';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deadLetterDesk, type DeadLetter } from 'strandline';
import { describe, expect, test } from 'vitest';
import { lettersIn } from './failing-shop.js';
import { CommandFolder, CONFIG, type StrandlineCommand } from './strandline-command.js';

/** More starts than it may take until the event is found. */
const LIVES = 8;
/** So many processes one after the other, on a machine that may have two busy cores. */
const PATIENCE = 120_000;

/** How a handler takes its process with it. */
const ENDS = {
  'process.exit': 'process.exit(3)',
  'a native crash': "process.kill(process.pid, 'SIGSEGV')",
  'no memory': 'for (const kept = []; ; ) kept.push(new Array(100_000).fill(kept.length))',
} as const;

/** A pipeline in processes of its own, whose handler ends them at the events of a key. */
class Mine implements AsyncDisposable {
  readonly folder = new CommandFolder();

  constructor(
    readonly outbox: TestOutbox,
    end: string,
  ) {
    const choice = outbox.sourceChoice();
    const source =
      'mysql' in choice
        ? `mysql(${JSON.stringify(choice.mysql)})`
        : `postgres(${JSON.stringify(choice.postgres)})`;
    writeFileSync(
      this.folder.file(CONFIG),
      `import { deadLetters, definePipeline, fileOffsets, mysql, postgres } from 'strandline';
      import { appendFileSync } from 'node:fs';
      export default definePipeline({
        name: 'orders',
        source: ${source},
        offsets: fileOffsets({ directory: 'offsets' }),
        deadLetters: deadLetters(${JSON.stringify(lettersIn(outbox.url))}),
        commitInterval: 10,
        async handle({ id, key }) {
          // Others are in flight beside it.
          if (key === 'poison') await new Promise((resolve) => setTimeout(resolve, 50));
          if (key === 'poison') ${end};
          await new Promise((resolve) => setTimeout(resolve, 5));
          appendFileSync('handled', key + id + '\\n');
        },
      });`,
    );
  }

  start(): StrandlineCommand {
    return this.folder.start(['run'], { env: { NODE_OPTIONS: '--max-old-space-size=96' } });
  }

  async letters(): Promise<readonly DeadLetter[]> {
    const desk = deadLetterDesk(lettersIn(this.outbox.url));
    const letters = await desk.list('orders', {}, { after: null, limit: 100 });
    await desk.close();
    return letters;
  }

  handled(): string[] {
    const file = this.folder.file('handled');
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.folder[Symbol.asyncDispose]();
  }
}

describe.each(
  databaseKinds.flatMap((kind, n) => [{ kind, end: Object.keys(ENDS)[n % 3] as keyof typeof ENDS }]),
)('$kind: an event whose handler ends the process by $end', ({ kind, end }) => {
  test(
    'is found among those that were in flight, and parked with the evidence; the others are handled',
    { timeout: PATIENCE },
    async () => {
      await using outbox = await testOutbox(kind);
      await using mine = new Mine(outbox, ENDS[end]);
      const first = mine.start();
      await first.says('"msg":"ready: running orders"');
      const [a1, bad, b3, follower, c5] = await outbox.insert(
        ['a', 'poison', 'b', 'poison', 'c'].map((key) => ({ key })),
      );
      await first.exitCode();
      let lives = 1;
      let last: StrandlineCommand | undefined;
      while ((await mine.letters()).length < 2) {
        expect(lives, 'lives until it was found').toBeLessThan(LIVES);
        last = mine.start();
        lives += 1;
        const ended = last.exitCode().then(() => true);
        const found = waitUntil('both are parked', async () => (await mine.letters()).length === 2, {
          deadlineMs: 60_000,
          everyMs: 50,
        }).then(() => false);
        if (!(await Promise.race([ended, found]))) break;
        found.catch(() => undefined);
      }
      const [head, behind] = await mine.letters();
      expect(head).toMatchObject({
        reason: 'crash',
        event: { id: bad, key: 'poison' },
        failure: { error: { code: 'HANDLER_CRASH' } },
      });
      expect(behind).toMatchObject({ reason: 'behind', event: { id: follower } });
      // Three ends at one place make it a suspect, the fourth convicts it; the first ones may have got on a little.
      expect(lives).toBeGreaterThanOrEqual(5);
      await waitUntil('the others are handled', () => new Set(mine.handled()).size === 3);
      expect(new Set(mine.handled())).toEqual(
        new Set([`a${String(a1)}`, `b${String(b3)}`, `c${String(c5)}`]),
      );
      const [d6] = await outbox.insert([{ key: 'd' }]);
      await waitUntil('the next one is handled', () => mine.handled().includes(`d${String(d6)}`));
      last?.child.kill('SIGTERM');
      expect(await last?.exitCode()).toBe(0);
    },
  );
});

test(
  'a pipeline that was stopped in order, or killed while it got on, suspects nobody',
  { timeout: PATIENCE },
  async () => {
    await using outbox = await testOutbox('postgres');
    await using mine = new Mine(outbox, ENDS['process.exit']);
    for (let life = 0; life < 7; life += 1) {
      const run = mine.start();
      await run.says('"msg":"ready: running orders"');
      const [id] = await outbox.insert([{ key: 'a' }]);
      await waitUntil('it is handled', () => mine.handled().includes(`a${String(id)}`));
      run.child.kill(life % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
      await run.exitCode();
      expect(run.stderr + run.stdout).not.toContain('to find the one that ends it');
    }
    expect(await mine.letters()).toEqual([]);
  },
);
