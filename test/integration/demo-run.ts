import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { expect } from 'vitest';

/** The built demo, as `npm start` runs it once everything is installed and built. */
const main = path.resolve(import.meta.dirname, '..', '..', 'packages', 'demo', 'dist', 'main.js');

interface DemoLine {
  readonly committed: number;
  readonly handled: number;
  readonly missed: number;
  readonly duplicates: number;
  readonly orderViolations: number;
  readonly kills: number;
  readonly idCursor: { readonly seen: number; readonly missed: number };
}

/** One run of the demo. Its processes are known by a variable that they inherit: servers leave the group. */
export class DemoRun {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  stdout = '';
  stderr = '';
  readonly #closed: Promise<unknown>;
  readonly #mark = `STRANDLINE_DEMO_TEST=${randomUUID()}`;

  constructor(...args: string[]) {
    const [name, value] = this.#mark.split('=') as [string, string];
    this.child = spawn(process.execPath, [main, ...args], {
      env: { ...process.env, [name]: value, REDIS_URL: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout.setEncoding('utf8').on('data', (chunk: string) => (this.stdout += chunk));
    this.child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk));
    this.#closed = once(this.child, 'close');
  }

  async exit(): Promise<number | null> {
    await this.#closed;
    return this.child.exitCode;
  }

  /** Resolves when the demo is in full swing. */
  async underWay(): Promise<void> {
    while (!this.stderr.includes('committed')) {
      if (this.child.exitCode !== null)
        throw new Error(`The demo ended before it was under way:\n${this.stderr}`);
      await once(this.child.stderr, 'data');
    }
  }

  /** Command lines of what runs of it. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && read(`/proc/${name}/environ`).split('\0').includes(this.#mark))
      .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim())
      .filter((command) => command !== '');
  }

  /** Waits for the end of a run with --json, and checks that all went as the demo promises. */
  async expectSuccess(): Promise<void> {
    const exitCode = await this.exit();

    expect(this.stdout, this.stderr).toMatch(/^\{.*\}\n$/);
    const line = JSON.parse(this.stdout) as DemoLine;
    expect(line).toEqual({
      committed: line.committed,
      handled: line.committed,
      missed: 0,
      duplicates: line.duplicates,
      orderViolations: 0,
      kills: 2,
      idCursor: { seen: line.idCursor.seen, missed: line.committed - line.idCursor.seen },
    });
    expect(line.committed).toBeGreaterThan(100);
    expect(line.idCursor.missed).toBeGreaterThan(0);
    expect(exitCode).toBe(0);
    expect(this.processes()).toEqual([]);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // it has ended, or is another user's
  }
}
