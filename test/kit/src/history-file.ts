import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { defaultDeadlineMs, History, type HistoryEntry, type Recorder } from './history.js';
import { waitUntil } from './wait-until.js';

type Line = [HistoryEntry['what'], number, number, number, string, readonly string[], readonly string[]];

/** Appends entries to a file, each before the handler goes on: it outlives a SIGKILL of the writer. */
export function historyWriter(file: string): Recorder {
  const fd = openSync(file, 'a');
  return ({ what, run, attempt, at, key, ids, positions }) => {
    const line: Line = [what, run, attempt, at, key, ids, positions];
    writeSync(fd, `${JSON.stringify(line)}\n`);
  };
}

const CHUNK = 1024 * 1024;

/** The history that other processes write to a file, read on whenever it is looked at. */
export class FileHistory extends History implements Disposable {
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(CHUNK);
  #at = 0;
  #rest = '';

  constructor(file: string) {
    super();
    this.#fd = openSync(file, 'a+');
  }

  /** Reads what was written since. */
  refresh(): this {
    for (;;) {
      const length = readSync(this.#fd, this.#buffer, 0, CHUNK, this.#at);
      if (length === 0) return this;
      this.#at += length;
      // Ids, keys and positions of the tests are ASCII: a chunk can't end inside a character.
      const lines = (this.#rest + this.#buffer.toString('latin1', 0, length)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#addLine(line);
    }
  }

  async until(what: string, condition: () => boolean, deadlineMs = defaultDeadlineMs): Promise<void> {
    await waitUntil(
      what,
      () => {
        this.refresh();
        return condition();
      },
      { deadlineMs },
    ).catch((error: unknown) => {
      throw new Error(`${(error as Error).message} ${String(this.succeeded.size)} had succeeded.`);
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #addLine(line: string): void {
    const [what, run, attempt, at, key, ids, positions] = JSON.parse(line) as Line;
    this.add({ what, run, attempt, at, key, ids, positions });
  }
}
