import { readFileSync } from 'node:fs';
import { DemoFailure } from './failure.js';
import { until } from './until.js';
import type { WorkerSettings, WorkerStatus } from './worker-messages.js';
import { WorkerProcess, type WorkerExit } from './worker-process.js';

/** A worker that isn't up, or back, in this time is a failure of the demo. */
const UP_WITHIN_MS = 15_000;
const LOG_LINES = 20;

export interface Kill {
  /** Seconds after the writers began. */
  readonly at: number;
  /** Seconds from the kill until the next life had the log and was running; undefined until then. */
  readonly backAfter: number | undefined;
}

/** Strandline as the demo runs it: a process of its own that is killed on the way and started again. */
export class StrandlineUnderFire {
  readonly kills: Kill[] = [];
  readonly #settings: Omit<WorkerSettings, 'run' | 'stays'>;
  readonly #logFile: string;
  readonly #failed = new AbortController();
  #run = 0;
  #worker: WorkerProcess | undefined;
  #deathWanted = false;

  constructor(settings: Omit<WorkerSettings, 'run' | 'stays'>, logFile: string) {
    this.#settings = settings;
    this.#logFile = logFile;
  }

  /** Aborted when a worker ended that nobody had killed or stopped. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  get run(): number {
    return this.#run;
  }

  get status(): WorkerStatus | undefined {
    return this.#worker?.status;
  }

  /** Starts the next life; resolves once it runs. @param stays whether it is the one that stays up, with the console */
  async start(signal: AbortSignal, stays = false): Promise<void> {
    this.#run += 1;
    this.#deathWanted = false;
    const worker = await WorkerProcess.start({ ...this.#settings, run: this.#run, stays }, this.#logFile);
    this.#worker = worker;
    void worker.exited.then((exit) => {
      this.#onExit(exit);
    });
    await this.#until('runs', () => this.#isRunning(), signal);
  }

  /** Kills the worker in the middle of its work and starts the next life. `now` is in seconds. */
  async crash(now: () => number, signal: AbortSignal): Promise<void> {
    await this.#until('handles something to be killed in', () => this.#isAtWork(), signal);
    const at = now();
    await this.kill();
    const place = this.kills.push({ at, backAfter: undefined }) - 1;
    await this.start(signal);
    this.kills[place] = { at, backAfter: now() - at };
  }

  async kill(): Promise<void> {
    this.#deathWanted = true;
    await this.#worker?.kill();
  }

  /** Lets the worker drain and end. */
  async stop(): Promise<void> {
    this.#deathWanted = true;
    const exit = await this.#worker?.stop();
    if (exit !== undefined && exit.code !== 0)
      throw this.#trouble(`Strandline did not drain: ${describeExit(exit)}.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #until(does: string, condition: () => boolean, signal: AbortSignal): Promise<void> {
    const isTrue = await until(condition, {
      signal: AbortSignal.any([signal, this.failed]),
      withinMs: UP_WITHIN_MS,
    });
    if (!isTrue) throw this.#trouble(`Strandline should have come to where it ${does}, and did not.`);
  }

  #isRunning(): boolean {
    return this.status?.state === 'running';
  }

  #isAtWork(): boolean {
    return this.#isRunning() && (this.status?.handled ?? 0) > 0;
  }

  #onExit(exit: WorkerExit): void {
    if (this.#deathWanted) return;
    this.#failed.abort(this.#trouble(`Strandline ended by itself: ${describeExit(exit)}.`));
  }

  /** The log goes with the run's folder, so its end has to be in the message. */
  #trouble(message: string): DemoFailure {
    const lines = readFileSync(this.#logFile, 'utf8').trimEnd().split('\n');
    // What the process printed in plain text says it best; its structured log is there when it died without a word.
    const plain = lines.filter((line) => !line.startsWith('{'));
    return new DemoFailure(
      `${message} The end of its log:\n${(plain.length > 0 ? plain : lines).slice(-LOG_LINES).join('\n')}`,
    );
  }
}

function describeExit({ code, signal }: WorkerExit): string {
  return signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
}
