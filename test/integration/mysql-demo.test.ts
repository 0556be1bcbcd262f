import { afterEach, describe, test } from 'vitest';
import { DemoRun } from './demo-run.js';

describe.runIf(process.platform === 'linux')('the demo', () => {
  let run: DemoRun | undefined;
  afterEach(() => run?.child.kill('SIGKILL'));

  test.each([
    ['MySQL', '--mysql'],
    ['MariaDB', '--mariadb'],
  ])(
    'on %s: Strandline misses nothing through two kills, the id cursor does, and nothing is left running',
    async (_name, database) => {
      run = new DemoRun('--json', '--seconds', '6', database);
      await run.expectSuccess();
    },
    90_000,
  );
});
