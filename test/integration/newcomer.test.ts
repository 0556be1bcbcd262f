import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitUntil } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { foreignTable, shop, type Layout } from './foreign-outbox.js';
import { binOf, StrandlineCommand } from './strandline-command.js';
import { receiverCommand } from './webhook-receiver.js';

/** Milliseconds from the first command to the last event, on a machine that does other things, too. */
const A_MINUTE = 60_000;
const VARIABLES = '.env.strandline';

/** A folder of somebody who has never heard of us: nothing in it, and nothing around it. */
class Folder implements AsyncDisposable {
  readonly path = mkdtempSync(path.join(tmpdir(), 'strandline-newcomer-'));
  readonly #started: StrandlineCommand[] = [];

  types(args: readonly string[], env: Readonly<Record<string, string>> = {}): StrandlineCommand {
    const command = new StrandlineCommand(this.path, args, {
      program: [process.execPath, binOf('strandline')],
      env,
    });
    this.#started.push(command);
    return command;
  }

  read(name: string): string {
    return readFileSync(path.join(this.path, name), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const command of this.#started) await command.kill();
    rmSync(this.path, { recursive: true });
  }
}

/** The id of the n-th row: only one of the three grows. */
const IDS: Readonly<Record<Layout, (n: number) => string>> = {
  Debezium: (n) => `0000000${String(9 - n)}-0000-4000-8000-000000000000`,
  Rails: String,
  camelCase: (n) => `m${String(9 - n)}`,
};

const CASES = (['postgres', 'mysql'] as const).flatMap((kind) =>
  (['Debezium', 'Rails', 'camelCase'] as const).map((layout) => [kind, layout] as const),
);

describe.each(CASES)('a newcomer with a table on %s as of %s', (kind, layout) => {
  test(
    'has it delivered in order to a service in Python within a minute',
    { timeout: 3 * A_MINUTE },
    async () => {
      const startReceiver = await receiverCommand('python');
      await using db = await shop(kind);
      await using folder = new Folder();
      const { table, inserts, keys } = foreignTable(layout, kind);
      await db.run(table);
      const startedAt = performance.now();

      const webhook = ['--webhook', 'http://127.0.0.1:1/', '--variables', VARIABLES];
      const init = folder.types(['init', '--url', db.url, '--role', db.role, '--apply', ...webhook]);
      expect(await init.exitCode(), init.stderr).toBe(0);
      const secret = /^WEBHOOK_SECRET=(.*)$/m.exec(folder.read(VARIABLES))?.[1] ?? '';
      await using receiver = await startReceiver(secret.replaceAll(/['"]/g, ''));
      const service = { WEBHOOK_URL: receiver.url };

      const doctor = folder.types(['doctor', '--dotenv', VARIABLES], service);
      expect(await doctor.exitCode(), doctor.stdout + doctor.stderr).toBe(0);
      expect(doctor.stdout).toMatch(/pass +webhook-reachable/);

      const run = folder.types(['run', '--dotenv', VARIABLES], service);
      await run.says('ready: running');
      for (const insert of inserts) await db.run(insert);
      await waitUntil('all are delivered', async () => (await receiver.counts()).handled === inserts.length, {
        deadlineMs: A_MINUTE,
      });
      expect(performance.now() - startedAt).toBeLessThan(A_MINUTE);

      const journal = await receiver.journal();
      const idsOf = (key: string): string[] =>
        journal.filter((one) => one.key === key).map((one) => one.idempotencyKey.split('/').at(-1) ?? '');
      expect(keys.map(idsOf)).toEqual(
        [
          [2, 4, 6],
          [1, 3, 5],
        ].map((rows) => rows.map(IDS[layout])),
      );
      expect(await receiver.counts()).toMatchObject({ handled: inserts.length, refused: 0, outOfOrder: 0 });
      run.child.kill('SIGTERM');
      expect(await run.exitCode(), run.stderr).toBe(0);
    },
  );
});
