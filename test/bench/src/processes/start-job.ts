import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { JobName, Jobs, Report } from './jobs.js';

const SCRIPT = path.join(import.meta.dirname, 'job-process.js');

/** A job that runs in a process of its own. */
export interface RunningJob<Name extends JobName> {
  /** A reader is being streamed to. */
  readonly ready: Promise<void>;
  readonly result: Promise<Jobs[Name]['result']>;
  /** SIGKILL; resolves when the process is gone, and fails the other two unless they are settled. */
  kill(): Promise<void>;
}

/**
 * Starts a process for one measurement: each has a heap and a compiler that nothing else has warmed up, as the
 * process of a user has.
 */
export function startJob<Name extends JobName>(
  job: Name,
  settings: Jobs[Name]['settings'],
): RunningJob<Name> {
  // 'advanced' passes typed arrays as they are.
  const child = fork(SCRIPT, [], {
    serialization: 'advanced',
    execArgv: [...process.execArgv, '--expose-gc'],
  });
  let onReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const result = new Promise<Jobs[Name]['result']>((resolve, reject) => {
    child.on('message', (message) => {
      const report = message as Report;
      if (report.kind === 'ready') onReady();
      else if (report.kind === 'result') resolve(report.result);
      else reject(new Error(`${job}: ${report.message}`));
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      reject(new Error(`The process of ${job} ended with ${String(signal ?? code)} and without a result.`));
    });
  });
  child.send({ job, settings });
  const readyOrOver = Promise.race([ready, result.then(() => undefined)]);
  // Whoever awaits one of the two hears of a failure; the other must not end this process.
  for (const promise of [readyOrOver, result]) promise.catch(() => undefined);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return { ready: readyOrOver, result, kill };
}
