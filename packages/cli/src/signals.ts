import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { npmGone } from './npm-parent.js';

/**
 * Milliseconds in which a repeated signal counts as the same one: Ctrl-C reaches the whole process group, and
 * npm passes it on once more to the command that it runs.
 */
const SAME_SIGNAL = 500;

export interface Host {
  /** Where signals arrive: `process`. */
  readonly signals: Pick<EventEmitter, 'on'>;
  exit(code: number): void;
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

const thisProcess: Host = {
  signals: process,
  exit: (code) => process.exit(code),
  now: () => performance.now(),
};

/** Aborts when the command shall end: by a signal, or since the npm that runs it is gone. */
export function untilStopped(): AbortSignal {
  return AbortSignal.any([stopSignal(), npmGone()].filter((signal) => signal !== undefined));
}

/**
 * Aborts at the first SIGTERM or SIGINT, with the signal's name as the reason. The second one ends the process
 * at once: whoever sends it does not want to wait for the drain.
 */
export function stopSignal(host: Host = thisProcess): AbortSignal {
  const stop = new AbortController();
  let firstAt = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    host.signals.on(name, () => {
      if (!stop.signal.aborted) {
        firstAt = host.now();
        stop.abort(name);
      } else if (host.now() - firstAt > SAME_SIGNAL) {
        host.exit(128 + constants.signals[name]);
      }
    });
  }
  return stop.signal;
}
