import type { OutboxEvent, Position } from '@strandline/core';
import type { Random } from './random.js';

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
  const [commitA = NaN, ordinalA = NaN] = a.split('/').map(Number);
  const [commitB = NaN, ordinalB = NaN] = b.split('/').map(Number);
  return commitA - commitB || ordinalA - ordinalB;
}

export const LOG_START: Position = '0/0';

/** A log of committed transactions, in commit order. */
export class Log {
  readonly items: Item[] = [];
  readonly rows: Row[] = [];
  readonly #perKey = new Map<string, Row[]>();
  #commit = 0;
  /** The log is kept from here on. */
  released: Position = LOG_START;

  /** `ownEnd`: whether a transaction's end has a position of its own, or is reported as that of its last row. */
  constructor(readonly ownEnd: boolean) {}

  /** Where everything in the log has been handed over. */
  get end(): Position {
    const last = this.items.at(-1);
    return last !== undefined && 'passed' in last ? last.passed : LOG_START;
  }

  /** Commits a transaction with one row per key; without keys it is one that does not touch the outbox. */
  commit(keys: readonly string[], random: Random): void {
    this.#commit += random.between(1, 40);
    keys.forEach((key, i) => {
      this.#append(key, `${String(this.#commit)}/${String(i + 1)}`);
    });
    const ownEnd = this.ownEnd || keys.length === 0;
    this.items.push({ passed: `${String(this.#commit)}/${String(keys.length + (ownEnd ? 1 : 0))}` });
  }

  /** The row before this one of the same key. */
  previousOfKey({ nth, event }: Row): Row | undefined {
    return this.#perKey.get(event.key)?.[nth - 1];
  }

  /**
   * Where a reader that asks for `position` gets its first item: the start of the transaction there. A server
   * may also begin earlier, as far back as what is not released yet.
   */
  seek(position: Position, random: Random): number {
    const from = random.chance(0.3) ? this.released : position;
    const [commit = ''] = from.split('/');
    const index = this.items.findIndex((item) => compare(positionOf(item), `${commit}/0`) >= 0);
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
    transaction: { id: String(n), ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes: 1,
  };
}
