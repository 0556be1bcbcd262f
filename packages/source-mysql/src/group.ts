import type { HistoryMark } from './gtids.js';
import type { FilePosition } from './position.js';
import type { Dropped, GroupPlace, Proven } from './reading.js';
import type { LogRow, RowMapper } from './row-mapper.js';

/** Rows of transactions whose end was not read yet, held in memory; what has more is read again once it is proven. */
export const HELD = { rows: 4_096, bytes: 16 * 1024 * 1024 };

/** Rows of the outbox as the library decoded them, of one event of the log, and what makes events of them. */
export interface HeldRows {
  readonly mapper: RowMapper;
  readonly rows: readonly LogRow[];
}

interface Savepoint {
  readonly count: number;
  readonly read: number;
}

/** One transaction, or one statement that stands alone, as far as it was read. */
export class Group implements GroupPlace {
  /** Its rows so far that are not rolled back; empty once they are too many. */
  readonly rows: HeldRows[] = [];
  /** It has more rows than are held. */
  overflown = false;
  /** Rows that are not rolled back. */
  count = 0;
  /** All rows. */
  read = 0;
  /** Unix milliseconds of its last event. */
  timestamp = 0;
  #bytes = 0;
  #dropped: (readonly [number, number])[] | null = null;
  #savepoints: Map<string, Savepoint> | null = null;
  /** The mapper of the outbox's last table map, and the table's id there. */
  #mapper: RowMapper | null = null;
  #tableId = -1;

  constructor(
    readonly gtid: string,
    readonly at: FilePosition,
    readonly before: HistoryMark | null,
    /** It was begun, and ends with a commit or rollback; otherwise its one statement ends it. */
    public explicit: boolean,
    /** It was read before: its end is known. */
    readonly proven: Proven | null,
  ) {}

  map(tableId: number, mapper: RowMapper): void {
    this.#tableId = tableId;
    this.#mapper = mapper;
  }

  /** Null for a table that was not mapped in this transaction, which is another one: ids are used again. */
  mapperOf(tableId: number): RowMapper | null {
    return tableId === this.#tableId ? this.#mapper : null;
  }

  /** Counts a row of a transaction whose end is known; false when that took the row back. */
  counts(): boolean {
    const { read } = this;
    this.read += 1;
    if (this.proven?.dropped.some(([from, to]) => read >= from && read < to) === true) return false;
    this.count += 1;
    return true;
  }

  /** Holds the rows of one event, of so many bytes. */
  hold(mapper: RowMapper, rows: readonly LogRow[], bytes: number): void {
    this.read += rows.length;
    this.count += rows.length;
    this.#bytes += bytes;
    if (this.overflown) return;
    this.overflown = this.count > HELD.rows || this.#bytes > HELD.bytes;
    if (this.overflown) this.rows.length = 0;
    else this.rows.push({ mapper, rows });
  }

  savepoint(name: string): void {
    this.#savepoints ??= new Map();
    this.#savepoints.set(name, { count: this.count, read: this.read });
  }

  /** False when there is no such savepoint. */
  rollbackTo(name: string): boolean {
    const savepoint = this.#savepoints?.get(name);
    if (savepoint === undefined) return false;
    this.#dropped ??= [];
    this.#dropped.push([savepoint.read, this.read]);
    // A savepoint stands between two events.
    let excess = this.count - savepoint.count;
    while (excess > 0 && !this.overflown) excess -= this.rows.pop()?.rows.length ?? excess;
    this.count = savepoint.count;
    return true;
  }

  get dropped(): Dropped {
    return this.#dropped ?? [];
  }
}
