import type { Position } from '@strandline/core';

/**
 * The order of the rows of a start snapshot. Only the server can compare their order values (collations,
 * numbers, uuids), so a row's rank is its place in this reading; a saved position that bounds a settled run
 * gets the rank of the row that it is found at, when the reading comes to it.
 */
export class SnapshotOrder {
  readonly #bounds = new Map<Position, number>();
  /** Rows whose reading gives a saved position its rank. */
  readonly #anchors = new Map<Position, Position[]>();
  #batch = new Map<Position, number>();
  #rank = 0;

  /** @param start where this reading starts: nothing up to there is read again */
  constructor(start: Position) {
    this.#bounds.set(start, 0);
  }

  /** Ties a saved position to the row that stands for it now. Null: it lies before every row still there. */
  anchor(bound: Position, row: Position | null): void {
    if (row === null) this.#bounds.set(bound, 0);
    else this.#anchors.set(row, [...(this.#anchors.get(row) ?? []), bound]);
  }

  startBatch(): void {
    this.#batch = new Map();
  }

  /** The reading has come to a row. */
  read(row: Position): void {
    this.#rank += 1;
    this.#batch.set(row, this.#rank);
    for (const bound of this.#anchors.get(row) ?? []) this.#bounds.set(bound, this.#rank);
  }

  compare(a: Position, b: Position): number {
    const rankA = this.#rankOf(a);
    const rankB = this.#rankOf(b);
    return rankA === rankB ? 0 : rankA < rankB ? -1 : 1;
  }

  /** What was not read yet comes after everything that was. */
  #rankOf(position: Position): number {
    return this.#batch.get(position) ?? this.#bounds.get(position) ?? Infinity;
  }
}
