import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ServerError } from '../errors.js';
import { supervisorScript } from '../project-paths.js';
import type { Order, Report, SupervisorSpec } from './supervisor-protocol.js';

/**
 * A server that stops with this process, whatever ends this process.
 *
 *     stopped ──start──► running ──exit──► stopped        (any number of times)
 *        └────────────────close──────────────┴──► closed
 *
 * A process of its own (see `supervisor-main.ts`) holds the server as its child.
 */
export class SupervisedServer {
  readonly #spec: SupervisorSpec;
  readonly #supervisor: ChildProcess;
  #pid: number | undefined;
  #lastExit = 'not started';

  static async launch(spec: SupervisorSpec): Promise<SupervisedServer> {
    const log = openSync(spec.logFile, 'a');
    const supervisor = fork(supervisorScript, [JSON.stringify(spec)], {
      cwd: spec.directory,
      detached: true,
      execArgv: [], // a test runner's loaders are of no use there
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const server = new SupervisedServer(spec, supervisor);
    const report = await server.#nextReport('ready', 'unprepared');
    // A run that forgets to stop its server must still be able to end, and the server ends with it.
    supervisor.unref();
    supervisor.channel?.unref();
    if (report.type === 'unprepared') await server.#giveUp(report.how);
    return server;
  }

  private constructor(spec: SupervisorSpec, supervisor: ChildProcess) {
    this.#spec = spec;
    this.#supervisor = supervisor;
    supervisor.setMaxListeners(0);
    supervisor.on('message', (report: Report) => {
      if (report.type === 'started') this.#pid = report.pid;
      if (report.type !== 'exited') return;
      this.#pid = undefined;
      this.#lastExit = report.how;
    });
    supervisor.once('exit', () => (this.#pid = undefined));
  }

  /** The server's process; undefined while it is stopped. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** How the last run of the server ended. */
  get lastExit(): string {
    return this.#lastExit;
  }

  /** Resolves when the process exists, which is before it can serve. */
  async start(): Promise<void> {
    if (this.#pid !== undefined) return;
    const started = this.#nextReport('started', 'exited');
    this.#order({ type: 'start' });
    await started;
  }

  /** Resolves when the signal has been sent, and of SIGSTOP: when the server stands still. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    if (this.#pid === undefined) return;
    const signalled = this.#nextReport('signalled');
    this.#order({ type: 'signal', signal });
    await signalled;
  }

  /** SIGKILL to the server and all of its children; resolves when they are gone. */
  async kill(): Promise<void> {
    if (this.#pid === undefined) return;
    const killed = this.#nextReport('killed');
    this.#order({ type: 'kill' });
    await killed;
  }

  /** Resolves when the server has ended, or with false when `deadlineMs` have passed. */
  async exited(deadlineMs?: number): Promise<boolean> {
    const timer = new AbortController();
    const waits = [this.#exited()];
    if (deadlineMs !== undefined) {
      waits.push(delay(deadlineMs, undefined, { signal: timer.signal }).catch(() => undefined));
    }
    await Promise.race(waits);
    timer.abort();
    return this.#pid === undefined;
  }

  /** Stops the server and removes its folder. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#supervisor.ref();
    const gone = once(this.#supervisor, 'exit');
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    await gone;
  }

  /** The end of what the server has logged, for error messages. */
  async logTail(): Promise<string> {
    const log = await readFile(this.#spec.logFile, 'utf8').catch(() => '');
    return log.trimEnd().split('\n').slice(-15).join('\n');
  }

  async #giveUp(how: string): Promise<never> {
    const log = await this.logTail();
    await this.close();
    throw new ServerError(
      'SERVER_START_FAILED',
      `${String(this.#spec.prepare?.file)} failed (${how}). The end of what it said:\n${log}`,
      'What it objects to is usually in the last lines.',
    );
  }

  async #exited(): Promise<void> {
    if (this.#pid !== undefined) await this.#nextReport('exited');
  }

  get #hasEnded(): boolean {
    return this.#supervisor.exitCode !== null || this.#supervisor.signalCode !== null;
  }

  #order(order: Order): void {
    if (this.#supervisor.connected) this.#supervisor.send(order);
  }

  /** The next report of one of these types. The wait keeps this process alive; the supervisor alone does not. */
  #nextReport(...types: Report['type'][]): Promise<Report> {
    const supervisor = this.#supervisor;
    return new Promise((resolve, reject) => {
      const keepAlive = setInterval(() => undefined, 60_000);
      const settle = (act: () => void): void => {
        clearInterval(keepAlive);
        supervisor.off('message', onMessage).off('exit', onEnd);
        act();
      };
      const onMessage = (report: Report): void => {
        if (types.includes(report.type))
          settle(() => {
            resolve(report);
          });
      };
      const onEnd = (): void => {
        const problem = new Error(`The supervisor of the server has ended. Its log: ${this.#spec.logFile}`);
        // The server goes with its supervisor, which is what a wait for its exit is about.
        if (types.includes('exited'))
          settle(() => {
            resolve({ type: 'exited', how: 'with its supervisor' });
          });
        else
          settle(() => {
            reject(problem);
          });
      };
      supervisor.on('message', onMessage).on('exit', onEnd);
      if (this.#hasEnded) onEnd();
    });
  }
}
