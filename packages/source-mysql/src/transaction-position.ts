import type { Position } from '@strandline/core';
import type { TransactionContext } from './event.js';
import type { HistoryMark } from './gtids.js';
import type { LogPlace } from './log-place.js';
import { formatParts, type FilePosition } from './position.js';
import type { Decision, GroupPlace } from './reading.js';

type Read = GroupPlace & { readonly before: HistoryMark | null };

/** Positions of one transaction's rows. All but the ordinal is the same in each, and made when the first is asked for. */
export class TransactionPositions implements TransactionContext {
  readonly id: string;
  readonly timestamp: number;
  readonly #server: string;
  readonly #group: Read;
  /** The oldest XA transaction that is not decided, when this one is read. */
  readonly #undecided: Read | null;
  #parts: readonly [string, string] | null = null;

  constructor(server: string, group: Read, timestamp: number, undecided: Read | null) {
    this.#server = server;
    this.#group = group;
    this.#undecided = undecided;
    this.id = idOf(group);
    this.timestamp = timestamp;
  }

  position(ordinal: number): Position {
    this.#parts ??= this.#format();
    return this.#parts[0] + String(ordinal) + this.#parts[1];
  }

  #format(): readonly [string, string] {
    const { at, gtid, before } = this.#group;
    const from = this.#undecided === null ? null : placeOf(this.#undecided);
    return formatParts({ server: this.#server, at, gtid, executed: before?.text ?? '', from });
  }
}

/** Positions of rows that were prepared: their transaction is the one that decided them. */
export class DecidedPositions implements TransactionContext {
  readonly id: string;
  readonly timestamp: number;
  readonly #parts: readonly [string, string];

  constructor(server: string, { group, executed, timestamp, from }: Decision) {
    this.id = idOf(group);
    this.timestamp = timestamp;
    this.#parts = formatParts({ server, at: group.at, gtid: group.gtid, executed, from });
  }

  position(ordinal: number): Position {
    return this.#parts[0] + String(ordinal) + this.#parts[1];
  }
}

/** A place that is not of a transaction: everything before it has committed. */
export class FilePlace {
  readonly #server: string;
  readonly #at: FilePosition;
  readonly #from: LogPlace | null;

  constructor(server: string, at: FilePosition, from: LogPlace | null) {
    this.#server = server;
    this.#at = at;
    this.#from = from;
  }

  position(): Position {
    const [before, behind] = formatParts({
      server: this.#server,
      at: this.#at,
      gtid: '',
      executed: '',
      from: this.#from,
    });
    return `${before}0${behind}`;
  }
}

/** Where a transaction starts, as a place to read from. */
export function placeOf({ at, before }: Read): LogPlace {
  return { at, executed: before?.text ?? '' };
}

function idOf({ gtid, at }: GroupPlace): string {
  return gtid === '' ? `${at.file}:${String(at.offset)}` : gtid;
}
