import type { BinlogEvent, TableMapEvent } from './binlog-events.js';

/** The library's table maps by table id: what it reads rows by. */
type LibraryMaps = Readonly<Record<number, unknown>>;

const TABLE_ID_LENGTH = 6;

/**
 * Every statement in the log is preceded by the description of its table, mostly the same bytes again and again;
 * reading them costs as much as reading several rows. The last one of the outbox is kept, and told again as long as
 * the bytes are the same and the library still reads that table's rows by it.
 */
export class TableMaps {
  #bytes: Buffer | null = null;
  #event: TableMapEvent | null = null;
  /** What the library made of it. */
  #made: unknown;
  #expected: Buffer | null = null;

  /** The event that the library read from the same bytes before; null when it must read them. */
  find(bytes: Buffer, from: number, to: number, maps: LibraryMaps): BinlogEvent | null {
    if (this.#bytes === null || this.#event === null) return null;
    const length = to - from;
    if (length !== this.#bytes.length || bytes.compare(this.#bytes, 0, length, from, to) !== 0) return null;
    // Another table's map may have come under the same id meanwhile.
    return maps[this.#event.tableId] === this.#made ? this.#event : null;
  }

  /** The library reads these bytes now. */
  expect(bytes: Buffer, from: number, to: number): void {
    this.#expected = Buffer.from(bytes.subarray(from, to));
  }

  /** The library has read an event: keeps it if that is the one which was expected. */
  read(event: BinlogEvent, maps: LibraryMaps): void {
    const expected = this.#expected;
    if (expected === null || event.getTypeName() !== 'TableMap') return;
    this.#expected = null;
    const map = event as TableMapEvent;
    if (expected.readUIntLE(0, TABLE_ID_LENGTH) !== map.tableId) return;
    this.#bytes = expected;
    this.#event = map;
    this.#made = maps[map.tableId];
  }
}
