/**
 * The process between a test run and one server. It starts the server, and it outlives the run just long enough
 * to stop it: when the channel to the run closes, by `disconnect` or because the run was killed, the server is
 * stopped and its folder removed. There is one way to end, so the way that matters is the one that is always
 * used.
 *
 * It has a session of its own (`detached`), so neither Ctrl-C nor a SIGKILL to the run's process group hits it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, readProcessStat } from './process-identity.js';
import { killTree } from './process-tree.js';
import { ownIdentity, recordOwner, removeRunDirectory } from './run-directory.js';
import type { Command, Order, Report, SupervisorSpec } from './supervisor-protocol.js';

const spec = JSON.parse(process.argv[2] ?? '') as SupervisorSpec;
const log = openSync(spec.logFile, 'a');
let server: ChildProcess | undefined;
let preparation = Promise.resolve();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => void end());
process.on('uncaughtException', (error) => {
  process.stderr.write(`${String(error.stack)}\n`); // into the log
  void end();
});

await recordOwner(spec.directory, { owner: ownIdentity() });
// A run that was killed while this process was loading has closed the channel before anyone listened for it.
if (!process.connected) await end();
preparation = prepare();

async function prepare(): Promise<void> {
  if (spec.prepare === undefined) {
    report({ type: 'ready' });
    return;
  }
  const how = await outcome(launch(spec.prepare));
  report(how === 'exit code 0' ? { type: 'ready' } : { type: 'unprepared', how });
}

async function obey(order: Order): Promise<void> {
  if (order.type === 'start') start();
  else if (order.type === 'kill') await kill(server);
  else await signal(server, order.signal);
}

async function signal(child: ChildProcess | undefined, name: NodeJS.Signals): Promise<void> {
  if (child?.kill(name) === true && name === 'SIGSTOP') await standsStill(child);
  report({ type: 'signalled' });
}

/** A signal is on its way for a moment, in which a server can still answer. */
async function standsStill(child: ChildProcess): Promise<void> {
  if (process.platform !== 'linux') return;
  while (child === server && readProcessStat(child.pid ?? 0)?.[0] !== 'T') await delay(1);
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid !== undefined) {
    const exit = once(child, 'exit');
    await killTree(child.pid);
    await exit;
  }
  report({ type: 'killed' });
}

function start(): void {
  const child = launch(spec.command);
  void outcome(child).then((how) => {
    server = undefined;
    report({ type: 'exited', how });
  });
  if (child.pid === undefined) return;
  server = child;
  const identity = identify(child.pid);
  void recordOwner(spec.directory, { owner: ownIdentity(), ...(identity ? { server: identity } : {}) });
  report({ type: 'started', pid: child.pid });
}

function launch({ file, args, env, ...how }: Command): ChildProcess {
  const variables = { ...process.env, ...env };
  return spawn(file, [...args], { ...how, env: variables, stdio: ['ignore', log, log], detached: true });
}

function outcome(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('exit', (code, signal) => {
      resolve(signal ?? `exit code ${String(code)}`);
    });
  });
}

function report(message: Report): void {
  // The run may be gone at any moment; `disconnect` says so, not a failed send.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

async function end(): Promise<void> {
  await preparation;
  const child = server;
  if (child?.pid !== undefined) {
    child.kill('SIGCONT'); // a server that a test has paused can't act on anything else
    child.kill(spec.stopSignal);
    const timer = setTimeout(() => void killTree(child.pid ?? 0), spec.stopDeadlineMs);
    if (server !== undefined) await once(child, 'exit');
    clearTimeout(timer);
  }
  // What can't be removed now is removed by the next start. This process must not stay either way.
  await removeRunDirectory(spec.directory).finally(() => process.exit());
}
