import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';

/** Compiled: it is started by plain Node, as the tests start it. */
const main = path.resolve(import.meta.dirname, '..', 'dist', 'pipeline-process-main.js');

test('the process of a pipeline ends with its test, also while it tries to start', async () => {
  const options = {
    name: 'orphan',
    // Nobody listens there, and the process that asks has ten seconds to find out.
    source: {
      postgres: {
        url: 'postgres://nobody@192.0.2.1:1/none',
        outbox: { table: 'outbox', id: 'id', key: 'key' },
      },
    },
    offsets: { kind: 'file', directory: '/nonexistent' },
    history: '/dev/null',
    run: 1,
  };
  const child = fork(main, [], {
    env: { ...process.env, STRANDLINE_TEST_PIPELINE: JSON.stringify(options) },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const exited = once(child, 'exit');
  child.send({ type: 'report', id: 1 });
  await once(child, 'message');
  child.disconnect();
  expect(await exited).toEqual([1, null]);
}, 30_000);
