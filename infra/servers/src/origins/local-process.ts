import { SupervisedServer } from '../process/supervise.js';
import type { SupervisorSpec } from '../process/supervisor-protocol.js';
import type { ServerProcess } from './server-process.js';

/** A server that runs on this machine, from binaries. */
export class LocalProcess implements ServerProcess {
  readonly origin = 'local';
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly dataDirectory: string;
  readonly #server: SupervisedServer;

  static async launch(spec: SupervisorSpec, port: number, dataDirectory: string): Promise<LocalProcess> {
    return new LocalProcess(await SupervisedServer.launch(spec), port, dataDirectory);
  }

  private constructor(server: SupervisedServer, port: number, dataDirectory: string) {
    this.#server = server;
    this.port = port;
    this.dataDirectory = dataDirectory;
  }

  get running(): boolean {
    return this.#server.pid !== undefined;
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  signal(signal: NodeJS.Signals): Promise<void> {
    return this.#server.signal(signal);
  }

  exited(deadlineMs: number): Promise<boolean> {
    return this.#server.exited(deadlineMs);
  }

  kill(): Promise<void> {
    return this.#server.kill();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async diagnosis(): Promise<string> {
    const state = this.running ? 'It runs, but does not answer.' : `It ended: ${this.#server.lastExit}.`;
    return `${state} The end of its log:\n${await this.#server.logTail()}`;
  }
}
