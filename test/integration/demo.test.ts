import { afterEach, describe, expect, test, vi } from 'vitest';
import { DemoRun } from './demo-run.js';

const timeoutMs = 90_000;
/** A supervisor notices at once that its parent is gone, and then gives the server five seconds to stop. */
const goneWithinMs = 10_000;

describe.runIf(process.platform === 'linux')('the demo', () => {
  let run: DemoRun | undefined;
  afterEach(() => run?.child.kill('SIGKILL'));

  test(
    'Strandline misses nothing through two kills, the id cursor does, and nothing is left running',
    async () => {
      run = new DemoRun('--json', '--seconds', '6');
      await run.expectSuccess();
    },
    timeoutMs,
  );

  test.each([
    ['SIGTERM', 143],
    ['SIGKILL', null],
  ] as const)(
    'nothing is left running after %s',
    async (signal, exitCode) => {
      run = new DemoRun('--json');
      await run.underWay();
      expect(run.processes().length).toBeGreaterThan(3);

      run.child.kill(signal);

      expect(await run.exit()).toBe(exitCode);
      await vi.waitFor(
        () => {
          expect(run?.processes()).toEqual([]);
        },
        { timeout: goneWithinMs, interval: 50 },
      );
    },
    timeoutMs,
  );

  test('wrong arguments are answered with the usage and exit code 2', async () => {
    run = new DemoRun('--seconds', 'soon');
    expect(await run.exit()).toBe(2);
    expect(run.stderr).toContain('--seconds is soon; it must be a number from 4 to 3600.');
  });
});
