import { ServerError } from '../errors.js';
import type { ServerOrigin, ServerProcess } from './server-process.js';
import { untilReady } from './until-ready.js';

/**
 * The life of one server, the same for every kind of server: how to ask whether it serves is all that differs.
 * A server from the environment has no process here, so it can be used but not stopped.
 */
export class ServerHandle {
  readonly origin: ServerOrigin;
  readonly #name: string;
  readonly #process: ServerProcess | undefined;
  readonly #ask: () => Promise<void>;

  constructor(name: string, process: ServerProcess | undefined, ask: () => Promise<void>) {
    this.#name = name;
    this.origin = process?.origin ?? 'environment';
    this.#process = process;
    this.#ask = ask;
  }

  /** Resolves when the server answers. */
  async start(): Promise<void> {
    const server = this.#own();
    await server.start();
    await untilReady(this.#name, server, this.#ask);
  }

  /** Ends it with a signal, and with `harder` after the deadline. Data stays. */
  async stop(signal: NodeJS.Signals, deadlineMs: number, harder: NodeJS.Signals): Promise<void> {
    const server = this.#own();
    await server.signal('SIGCONT'); // one that a test has paused can't act on anything else
    await server.signal(signal);
    if (await server.exited(deadlineMs)) return;
    await server.signal(harder);
    if (!(await server.exited(deadlineMs))) await server.kill();
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    await this.#own().signal(signal);
  }

  async kill(): Promise<void> {
    await this.#own().kill();
  }

  /** Stops and removes a server of ours; leaves any other alone. Safe to call twice. */
  async close(): Promise<void> {
    await this.#process?.close();
  }

  #own(): ServerProcess {
    if (this.#process !== undefined) return this.#process;
    throw new ServerError(
      'SERVER_NOT_OURS',
      `${this.#name} was named by the environment, so it is not stopped, killed or restarted from here.`,
      'Ask for a server of your own with the option exclusive.',
    );
  }
}

/** A fresh port can be taken before the server has it; another one then. */
const launchAttempts = 3;

/** Launches a server and waits until it serves; removes it again when it doesn't. */
export async function startServer<T extends { readonly handle: ServerHandle }>(
  launch: () => Promise<T>,
  isPortFixed: boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await launch();
    try {
      await server.handle.start();
      return server;
    } catch (error) {
      await server.handle.close();
      const isPortTaken = /address already in use/i.test(String(error));
      if (!isPortTaken || isPortFixed || attempt === launchAttempts) throw error;
    }
  }
}
