import { queryRows } from './connection.js';
import { compareFiles, type LogPosition } from './position.js';
import type { Session } from './session.js';

/** The files of one server's log, as they were at one moment, the oldest first. */
export class LogFiles {
  readonly #server: string;
  readonly #sizes: ReadonlyMap<string, number>;

  static async read(sql: Session, server: string): Promise<LogFiles> {
    const rows = await queryRows(sql, 'show binary logs');
    return new LogFiles(
      server,
      rows.map((row) => [row['Log_name'] ?? '', Number(row['File_size'])]),
    );
  }

  /** @param sizes by name, in bytes, the oldest first */
  constructor(server: string, sizes: Iterable<readonly [string, number]>) {
    this.#server = server;
    this.#sizes = new Map(sizes);
  }

  get names(): readonly string[] {
    return [...this.#sizes.keys()];
  }

  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** Bytes between two places; null where that can't be told: in files of another server, or that are not known. */
  bytesBetween(a: LogPosition, b: LogPosition): number | null {
    if (a.server !== this.#server || b.server !== this.#server) return null;
    const [from, to] = compareFiles(a.at, b.at) <= 0 ? [a.at, b.at] : [b.at, a.at];
    if (from.file === to.file) return to.offset - from.offset;
    const { names } = this;
    const [first, last] = [names.indexOf(from.file), names.indexOf(to.file)];
    if (first < 0 || last < 0) return null;
    const whole = names.slice(first, last).reduce((sum, name) => sum + (this.#sizes.get(name) ?? 0), 0);
    return whole - from.offset + to.offset;
  }
}
