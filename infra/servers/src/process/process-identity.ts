import { readFileSync, readlinkSync } from 'node:fs';

/**
 * A process, told apart from a later one that was given the same pid.
 *
 * `scope` names the machine boot and the pid namespace that the pid belongs to: a checkout can be mounted into
 * a container, where the pids of the host mean nothing.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  readonly scope: string;
}

/** Identity of a live process; undefined when there is none with that pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!isPidInUse(pid)) return undefined;
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime, scope: currentScope() };
}

/** Whether the process still runs; `unknown` when its pid belongs to another machine or container. */
export function liveness(process: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  if (process.scope !== currentScope()) return 'unknown';
  const now = identify(process.pid);
  return now?.startTime === process.startTime ? 'alive' : 'dead';
}

function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Field 22 of /proc/PID/stat, in clock ticks since boot. Elsewhere than on Linux the pid alone has to do. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return '';
  const fields = readProcessStat(pid);
  // A zombie is dead for every purpose here: it holds no port and no file.
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19];
}

/** The fields of /proc/PID/stat from the state on; the command before it may hold spaces and parentheses. */
export function readProcessStat(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

let scope: string | undefined;
function currentScope(): string {
  scope ??= process.platform === 'linux' ? `${bootId()} ${pidNamespace()}` : process.platform;
  return scope;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return 'boot';
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'pid';
  }
}
