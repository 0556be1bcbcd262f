import { testOutbox, waitUntil } from '@strandline/test-kit';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CommandFolder, CONFIG } from './strandline-command.js';

test('strandline prune tells how much would go, deletes what all have settled, and names who has not', async () => {
  await using outbox = await testOutbox('postgres');
  await using folder = new CommandFolder();
  const choice = outbox.sourceChoice();
  if (!('postgres' in choice)) throw new Error('it is Postgres');
  const source = JSON.stringify(choice.postgres);
  writeFileSync(
    folder.file(CONFIG),
    `import { definePipeline, fileOffsets, postgres } from 'strandline';
    export default definePipeline({
      name: 'orders', source: postgres(${source}), offsets: fileOffsets({ directory: 'offsets' }), handle() {},
    });`,
  );
  const asks = async (
    ...args: string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    const command = folder.start(['prune', ...args]);
    return { code: await command.exitCode(), stdout: command.stdout, stderr: command.stderr };
  };
  const withoutKeep = await asks('--once');
  expect(withoutKeep.code).toBe(1);
  expect(withoutKeep.stderr).toContain('PIPELINE_CONFIG');

  await outbox.insert([{ key: 'a' }, { key: 'b' }]);
  const [first] = await outbox.idsAbove('0');
  const run = folder.start(['run']);
  await run.says('"msg":"ready: running orders"');
  const dry = await asks('--dry-run', '--keep', '0ms', '--json');
  expect(dry.code, dry.stderr).toBe(0);
  expect(JSON.parse(dry.stdout)).toMatchObject({ pipeline: 'orders', outcome: 'done', survey: { rows: 2 } });
  expect(await outbox.has(first ?? '')).toBe(true);
  const once = await asks('--once', '--keep', '0ms');
  expect(once.code, once.stderr).toBe(0);
  expect(once.stdout).toMatch(/^orders: \S+\.public\.outbox: 2 rows deleted, 0 partitions dropped\n/);
  await waitUntil('they are gone', async () => (await outbox.idsAbove('0')).length === 0);
  run.child.kill('SIGTERM');
  expect(await run.exitCode()).toBe(0);
});
