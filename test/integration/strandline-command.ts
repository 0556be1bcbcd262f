import { main } from '@strandline/cli';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';

const root = path.resolve(import.meta.dirname, '..', '..');

/** The command as it was built, with the packages that it was built on. */
export function binOf(name: 'cli' | 'strandline'): string {
  return path.join(root, 'packages', name, 'bin', 'strandline.js');
}

/**
 * The config of suites that start the command dozens of times, in JavaScript: to load and run the compiler of TypeScript
 * takes a quarter of a start. `cli` and `load-config` have configs in TypeScript.
 */
export const CONFIG = 'strandline.config.mjs';

export interface CommandOptions {
  readonly env?: Record<string, string>;
  /** What is run, with its first arguments. Default: the command. */
  readonly program?: readonly [string, ...string[]];
}

/** What a command that has ended has said. */
export interface Answered {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A folder inside the repository, where a config imports `strandline` as in a project that installed it. At the end
 * what was started there is killed.
 */
export class CommandFolder implements AsyncDisposable {
  readonly started: StrandlineCommand[] = [];
  readonly #path: string;
  #asked = 0;

  constructor() {
    const parent = path.join(root, '.cache');
    mkdirSync(parent, { recursive: true });
    this.#path = mkdtempSync(path.join(parent, 'cli-test-'));
  }

  file(name: string): string {
    return path.join(this.#path, name);
  }

  start(args: readonly string[], options: CommandOptions = {}): StrandlineCommand {
    const command = new StrandlineCommand(this.#path, args, options);
    this.started.push(command);
    return command;
  }

  /**
   * What the command answers, without a process of its own: to start one takes a second of a busy machine. For commands
   * that end by themselves, since signals are the process's.
   */
  async ask(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Answered> {
    const answer = { code: 0, stdout: '', stderr: '' };
    const into = (name: 'stdout' | 'stderr') => ({
      write: (text: string, done?: () => void): void => {
        answer[name] += text;
        done?.();
      },
    });
    // A module is loaded once a process, and a pipeline is closed with the command that has used it.
    this.#asked += 1;
    const config = this.file(`asked-${String(this.#asked)}-${CONFIG}`);
    copyFileSync(this.file(CONFIG), config);
    const before = { directory: process.cwd(), env: { ...process.env } };
    try {
      process.chdir(this.#path);
      Object.assign(process.env, { LOG_LEVEL: '', ...env, STRANDLINE_CONFIG: config });
      answer.code = await main(args, {
        stdin: Readable.from([]),
        stdout: into('stdout'),
        stderr: into('stderr'),
      });
    } finally {
      process.chdir(before.directory);
      process.env = before.env;
    }
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const command of this.started) await command.kill();
    rmSync(this.#path, { recursive: true });
  }
}

/** One run of the command, in a process of its own, without a terminal. */
export class StrandlineCommand {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  stdout = '';
  stderr = '';
  readonly #closed: Promise<unknown>;

  constructor(
    folder: string,
    args: readonly string[],
    { env = {}, program: [program, ...before] = [process.execPath, binOf('cli')] }: CommandOptions,
  ) {
    this.child = spawn(program, [...before, ...args], {
      cwd: folder,
      // A test may itself run under npm, with a level of its own.
      env: { ...process.env, npm_lifecycle_event: undefined, LOG_LEVEL: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // so that kill() reaches what it started
    });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#closed = once(this.child, 'close');
  }

  /** Resolves when it has ended, and everything that holds its outputs, too. */
  async exitCode(): Promise<number | null> {
    await this.#closed;
    return this.child.exitCode;
  }

  async says(text: string): Promise<void> {
    while (!this.stderr.includes(text)) {
      if (this.child.exitCode !== null)
        throw new Error(`It ended and did not say ${text}, but:\n${this.stderr}`);
      await Promise.race([once(this.child.stderr, 'data'), this.#closed]);
    }
  }

  /** What it wrote beside the logs. */
  get message(): string {
    return this.stderr
      .split('\n')
      .filter((line) => !line.startsWith('{'))
      .join('\n');
  }

  async kill(): Promise<void> {
    if (this.child.pid !== undefined) {
      try {
        process.kill(-this.child.pid, 'SIGKILL');
      } catch {
        // The group has ended.
      }
    }
    await this.#closed;
  }
}
