import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, readProcessStat } from './process-identity.js';

/**
 * SIGKILL to a process and all of its descendants; resolves when they are gone.
 *
 * The root is stopped first, so that it can't start a child between the look at the list and the kill. Process
 * groups don't do here: each Postgres backend makes a session of its own.
 */
export async function killTree(root: number): Promise<void> {
  if (!send(root, 'SIGSTOP')) return;
  const doomed = [root, ...descendantsOf(root)];
  for (const pid of doomed) send(pid, 'SIGKILL');
  while (doomed.some((pid) => identify(pid) !== undefined)) await delay(5);
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it is gone already
  }
}

function descendantsOf(root: number): number[] {
  const all = parentage();
  const found: number[] = [];
  for (let generation = [root]; generation.length > 0; found.push(...generation)) {
    const parents = new Set(generation);
    generation = all.filter(([, parent]) => parents.has(parent)).map(([pid]) => pid);
  }
  return found;
}

/** Pairs of pid and parent pid of all processes. procps is missing from slim images, so Linux reads /proc. */
function parentage(): [pid: number, parent: number][] {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), Number(readProcessStat(Number(name))?.[1])]);
  }
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
}
