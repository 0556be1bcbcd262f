import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** Why the demo is to end early, and with which exit code. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(reason: string, exitCode: number) {
    super(reason);
    this.exitCode = exitCode;
  }
}

const PARENT_LOOK_EVERY_MS = 1000;

/**
 * Aborted by Ctrl-C and by the signals that ask a program to end. At the second one the process ends at once: its
 * worker ends when the channel to it closes, and the server's supervisor stops the server.
 */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const exitCode = 128 + constants.signals[name];
    process.on(name, () => {
      if (interrupt.signal.aborted) process.exit(exitCode);
      interrupt.abort(new Interrupted(`Interrupted by ${name}.`, exitCode));
    });
  }
  watchParent(() => {
    interrupt.abort(new Interrupted('The process that started the demo is gone.', 1));
  });
  return interrupt.signal;
}

/**
 * With npm killed, nobody could end a demo that stays up; it would hold its server for ever. npm also passes
 * SIGTERM on to its shell only, and the shell dies of it without telling anyone.
 */
function watchParent(onGone: () => void): void {
  const before = lineage();
  const looking = setInterval(() => {
    if (lineage() === before) return;
    clearInterval(looking);
    onGone();
  }, PARENT_LOOK_EVERY_MS);
  looking.unref();
}

/** The process above this one; and when that is the shell that npm runs scripts with, the one above it too. */
function lineage(): string {
  const parent = String(process.ppid);
  const isNpmScript = process.env['npm_lifecycle_event'] !== undefined;
  return isNpmScript && process.platform === 'linux' ? `${parent} ${parentOf(parent)}` : parent;
}

function parentOf(pid: string): string {
  try {
    return /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '';
  } catch {
    return ''; // it has just ended, which the next look sees
  }
}
