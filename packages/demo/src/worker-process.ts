import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { SETTINGS_VARIABLE, STOP, type WorkerSettings, type WorkerStatus } from './worker-messages.js';

const WORKER = path.join(import.meta.dirname, 'worker.js');
/** A worker that doesn't drain in this time is killed, so that the demo ends in any case. */
const STOP_WITHIN_MS = 8_000;

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One life of the worker, seen from the parent. */
export class WorkerProcess {
  readonly exited: Promise<WorkerExit>;
  readonly #child: ChildProcess;
  #status: WorkerStatus | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve({ code, signal });
      });
    });
    child.on('message', (status) => (this.#status = status as WorkerStatus));
  }

  /** Starts a worker; what it prints is appended to `logFile`. */
  static async start(settings: WorkerSettings, logFile: string): Promise<WorkerProcess> {
    const log = await open(logFile, 'a');
    try {
      const child = fork(WORKER, [], {
        env: { ...process.env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
        stdio: ['ignore', log.fd, log.fd, 'ipc'],
      });
      await once(child, 'spawn');
      return new WorkerProcess(child);
    } finally {
      await log.close();
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The latest report; undefined until the first. */
  get status(): WorkerStatus | undefined {
    return this.#status;
  }

  /** Power cut: no handler ends, nothing is saved. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** Lets it drain: finish what is in flight, save, release. */
  async stop(): Promise<WorkerExit> {
    if (this.#child.connected) this.#child.send(STOP);
    const deadline = setTimeout(() => this.#child.kill('SIGKILL'), STOP_WITHIN_MS);
    try {
      return await this.exited;
    } finally {
      clearTimeout(deadline);
    }
  }
}
