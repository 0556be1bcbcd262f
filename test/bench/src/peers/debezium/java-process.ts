import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { JavaArguments } from './arguments.js';
import { JAR } from './java-project.js';

const COMPLAINT_KEPT = 4_000;

/** The Java program at work. It ends when its standard input does, and so with this process too. */
export class JavaProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #gone: Promise<void>;
  #complaint = '';
  #isWanted = true;
  /** Resolves when it looks for rows; rejects with what it said when it ended before. */
  readonly ready: Promise<void>;
  /** Resolves when it has gone in order; rejects with what it said when not, but for `kill`. */
  readonly ended: Promise<void>;

  constructor(args: JavaArguments, password: string) {
    this.#child = spawn(
      'java',
      ['-jar', JAR, ...Object.entries(args).map(([name, value]) => `${name}=${value}`)],
      // Arguments are for everyone on the machine to read.
      { env: { ...process.env, DATABASE_PASSWORD: password } },
    );
    this.#child.stdin.on('error', () => undefined); // it has gone: its end says so
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-COMPLAINT_KEPT);
    });
    const closed = once(this.#child, 'close') as Promise<[number | null, string | null]>;
    this.#gone = closed.then(() => undefined);
    this.ended = closed.then(([code, signal]) => {
      if (code !== 0 && this.#isWanted)
        throw new Error(`Debezium's process ended with ${String(signal ?? code)}: ${this.#complaint.trim()}`);
    });
    this.ready = Promise.race([
      once(this.#child.stdout, 'data').then(() => undefined),
      this.ended.then(() => {
        throw new Error(`Debezium's process ended before it was ready: ${this.#complaint.trim()}`);
      }),
    ]);
    // Whoever awaits one of them hears of a failure; the other must not end this process.
    for (const promise of [this.ready, this.ended]) promise.catch(() => undefined);
  }

  /** Ends it in order. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    await this.#gone;
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child.kill('SIGKILL');
    await this.#gone;
  }
}
