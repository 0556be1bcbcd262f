import type { OutboxEvent, Position } from '@strandline/core';

/** One committed row. */
export interface Row {
  /** Its place in the whole log. */
  readonly n: number;
  /** Its place among the rows of its key. */
  readonly nth: number;
  readonly event: OutboxEvent;
}

/** What a source hands over one after the other: rows, and how far the log was read. */
export type Item = { readonly row: Row } | { readonly passed: Position };

/**
 * Positions look like `98/2`: the commit coordinate and the row's ordinal. As text they sort wrongly (`102/1`
 * comes before `98/2`), so whoever compares them as text is found out.
 */
export function compare(a: Position, b: Position): number {
  if (a === b) return 0;
  const [slashA, slashB] = [a.indexOf('/'), b.indexOf('/')];
  const commits = Number(a.slice(0, slashA)) - Number(b.slice(0, slashB));
  return commits === 0 ? Number(a.slice(slashA + 1)) - Number(b.slice(slashB + 1)) : commits;
}

export const LOG_START: Position = '0/0';

/** Commit coordinates are that far apart. */
const STRIDE = 7;

/** A log of committed transactions, in commit order. */
export class Log {
  readonly items: Item[] = [];
  readonly rows: Row[] = [];
  readonly #perKey = new Map<string, Row[]>();
  #commit = 0;
  /** Who waits for more. */
  #waiting: (() => void)[] = [];

  constructor(readonly ownEnd: boolean) {}

  /** Where everything in the log has been handed over. */
  get end(): Position {
    const last = this.items.at(-1);
    return last !== undefined && 'passed' in last ? last.passed : LOG_START;
  }

  /** Commits a transaction with one row per key. */
  commit(keys: readonly string[]): void {
    this.#commit += STRIDE;
    keys.forEach((key, index) => {
      this.#append(key, `${String(this.#commit)}/${String(index + 1)}`);
    });
    const ownEnd = this.ownEnd || keys.length === 0;
    this.items.push({ passed: `${String(this.#commit)}/${String(keys.length + (ownEnd ? 1 : 0))}` });
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  ofKey(key: string): readonly Row[] {
    return this.#perKey.get(key) ?? [];
  }

  rowOf({ id }: OutboxEvent): Row {
    const row = this.rows[Number(id)];
    if (row === undefined) throw new RangeError(`no row ${id}`);
    return row;
  }

  /** Calls back once, when there is more. */
  onMore(wake: () => void): void {
    this.#waiting.push(wake);
  }

  /** Where a reader that asks for a position gets its first item: the start of the transaction there. */
  seek(position: Position): number {
    const start = `${position.slice(0, position.indexOf('/'))}/0`;
    const index = this.items.findIndex((item) => compare(positionOf(item), start) >= 0);
    return index < 0 ? this.items.length : index;
  }

  #append(key: string, position: Position): void {
    const ofKey = this.#perKey.get(key) ?? [];
    this.#perKey.set(key, ofKey);
    const row = { n: this.rows.length, nth: ofKey.length, event: toEvent(key, this.rows.length, position) };
    ofKey.push(row);
    this.rows.push(row);
    this.items.push({ row });
  }
}

export function positionOf(item: Item): Position {
  return 'row' in item ? item.row.event.position : item.passed;
}

function toEvent(key: string, n: number, position: Position): OutboxEvent {
  return {
    id: String(n),
    key,
    type: null,
    payload: null,
    payloadText: null,
    payloadFormat: 'json',
    headers: {},
    headersText: null,
    columns: {},
    position,
    table: 'public.outbox',
    transaction: { id: position, ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes: 1,
  };
}
