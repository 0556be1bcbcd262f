import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test, vi } from 'vitest';
import { writeLauncher } from '../src/browser/launcher.js';
import { fontConfiguration } from '../src/browser/fonts.js';
import { startBrowser, type RunningBrowser } from '../src/index.js';
import { readProcessStat } from '../src/process/process-identity.js';
import { runProgram } from '../src/process/run-program.js';

let run: ChildProcess | undefined;
afterEach(() => {
  run?.kill('SIGKILL');
  vi.unstubAllEnvs();
});

/** Pids of the session that the supervisor makes for what it starts: the browser and all that it has started. */
function processesOf(session: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      // A zombie is dead; it only waits for whoever reaps it.
      const [state = 'Z', , , sid] = pid > 0 ? (readProcessStat(pid) ?? []) : [];
      return state !== 'Z' && Number(sid) === session;
    });
}

type Held = Pick<RunningBrowser, 'pid' | 'artifacts'>;

async function expectGone({ pid, artifacts }: Held): Promise<void> {
  await expect.poll(() => processesOf(pid), { timeout: 20_000, interval: 20 }).toEqual([]);
  await expect.poll(() => existsSync(path.dirname(artifacts)), { timeout: 20_000, interval: 20 }).toBe(false);
}

test.runIf(process.platform === 'linux')(
  'a browser has processes of an ordinary user, and takes them and its files with it',
  async () => {
    const home = await mkdtemp(path.join(tmpdir(), 'strandline-home-'));
    for (const name of ['HOME', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME']) vi.stubEnv(name, home);
    const browser = await startBrowser();
    // The browser, and one each at least for graphics, for the network and for the page.
    await expect.poll(() => processesOf(browser.pid).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
    const uids = processesOf(browser.pid).map((pid) => statSync(`/proc/${String(pid)}`).uid);
    expect(uids).not.toContain(0);
    // Even those that don't hear that they should end.
    for (const pid of processesOf(browser.pid)) if (pid !== browser.pid) process.kill(pid, 'SIGSTOP');
    await browser[Symbol.asyncDispose]();
    // At once, not some time later.
    expect(processesOf(browser.pid)).toEqual([]);
    expect(existsSync(path.dirname(browser.artifacts))).toBe(false);
    await browser[Symbol.asyncDispose]();
    expect(readdirSync(home)).toEqual([]);
    await rm(home, { recursive: true });
  },
);

test.runIf(process.platform === 'linux')('so it does when the run is killed with SIGKILL', async () => {
  const script = path.join(import.meta.dirname, 'hold-browser.js');
  run = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const lines = createInterface({ input: run.stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, 'line')) as [string];
  const held = JSON.parse(line) as Held;
  expect(processesOf(held.pid)).not.toEqual([]);
  process.kill(-(run.pid ?? 0), 'SIGKILL');
  await expectGone(held);
});

test('a launcher passes on what it is given, whatever the names are, and is left alone once it is right', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "strandline it's-"));
  const file = path.join(folder, 'launcher');
  const program = { file: 'printf', args: ['%s|', "it's $HOME", 'a b'] };
  await Promise.all([writeLauncher(file, program), writeLauncher(file, program)]);
  const said = await runProgram({ file, args: ['"c" d', ''] }, folder);
  expect(said).toBe(`it's $HOME|a b|"c" d||`);
  const { ino } = await stat(file);
  await writeLauncher(file, program);
  expect((await stat(file)).ino).toBe(ino);
  await writeLauncher(file, { ...program, args: ['moved'] });
  expect(await runProgram({ file, args: [] }, folder)).toBe('moved');
  expect(readdirSync(folder)).toEqual(['launcher']);
  await rm(folder, { recursive: true });
});

test('a configuration of fonts is XML, whatever the folder is called', () => {
  expect(fontConfiguration('/a & <b>/fonts', '/c')).toContain('<dir>/a &amp; &lt;b>/fonts</dir>');
});
