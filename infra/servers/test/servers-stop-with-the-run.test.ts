import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startPostgres, startRedis } from '../src/index.js';
import { createRunDirectory, type RunOwner } from '../src/process/run-directory.js';
import type { SupervisorSpec } from '../src/process/supervisor-protocol.js';
import { supervisorScript } from '../src/project-paths.js';
import { liveness } from '../src/process/process-identity.js';

interface Held {
  readonly port: number;
  readonly dataDirectory: string;
}

let run: ChildProcess | undefined;
afterEach(() => void run?.kill('SIGKILL'));

async function startRun(...args: string[]): Promise<Held[]> {
  const script = path.join(import.meta.dirname, 'hold-servers.js');
  run = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const lines = createInterface({ input: run.stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, 'line')) as [string];
  return JSON.parse(line) as Held[];
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}

async function expectGone(held: readonly Held[]): Promise<void> {
  for (const { port, dataDirectory } of held) {
    await expect.poll(() => isListening(port), { timeout: 10_000, interval: 20 }).toBe(false);
    await expect
      .poll(() => existsSync(path.dirname(dataDirectory)), { timeout: 10_000, interval: 20 })
      .toBe(false);
  }
}

test('when the run is killed with SIGKILL', async () => {
  const held = await startRun('hold');
  for (const { port } of held) expect(await isListening(port)).toBe(true);
  run?.kill('SIGKILL');
  await expectGone(held);
}, 120_000);

test('when the run’s whole process group is killed with SIGKILL', async () => {
  const held = await startRun('hold');
  process.kill(-(run?.pid ?? 0), 'SIGKILL');
  await expectGone(held);
}, 60_000);

test('when the run is killed before a supervisor listens, and while it prepares', async () => {
  for (const afterMs of [0, 60, 150]) {
    const directory = await createRunDirectory('test');
    const command = { file: 'sleep', args: ['0.2'], cwd: '/' };
    const spec: SupervisorSpec = {
      directory,
      logFile: path.join(directory, 'server.log'),
      prepare: command,
      command,
      stopSignal: 'SIGTERM',
      stopDeadlineMs: 1_000,
    };
    const supervisor = fork(supervisorScript, [JSON.stringify(spec)], { stdio: 'ignore' });
    await delay(afterMs);
    supervisor.disconnect();
    await once(supervisor, 'exit');
    expect(existsSync(directory)).toBe(false);
  }
}, 60_000);

test('when the run ends and has forgotten them', async () => {
  await expectGone(await startRun());
}, 60_000);

test('and what even their supervisors could not stop, the next start does', async () => {
  const held = await startRun('hold');
  const records = held.map(({ dataDirectory }) => {
    const file = path.join(path.dirname(dataDirectory), 'owner.json');
    return JSON.parse(readFileSync(file, 'utf8')) as RunOwner;
  });
  // Supervisors first: they would act on the end of the run.
  for (const { owner } of records) process.kill(owner.pid, 'SIGKILL');
  run?.kill('SIGKILL');
  for (const { owner } of records) await expect.poll(() => liveness(owner)).toBe('dead');
  const next = await startRedis({ origin: 'local' });
  await expectGone(held);
  await next[Symbol.asyncDispose]();
}, 60_000);

test.runIf(process.platform === 'linux')(
  'and a killed Postgres leaves no shared memory with the kernel',
  async () => {
    const segments = async (): Promise<string[]> => {
      const table = await readFile('/proc/sysvipc/shm', 'utf8');
      return table.split('\n').map((line) => line.trim().split(/\s+/)[1] ?? '');
    };
    const postgres = await startPostgres({ origin: 'local' });
    const pidFile = await readFile(path.join(postgres.dataDirectory ?? '', 'postmaster.pid'), 'utf8');
    const segment = pidFile.split('\n')[6]?.trim().split(/\s+/)[1];
    await postgres.kill();
    expect(await segments()).toContain(segment);
    await postgres[Symbol.asyncDispose]();
    expect(await segments()).not.toContain(segment);
  },
  60_000,
);
