import type { Position } from '@strandline/core';
import { parseExecuted, type Executed, type Flavour } from './gtids.js';
import { compareLog, parsePosition, type LogPosition } from './position.js';

const KNOWN_SETS = 64;

/** Orders positions of one log. The same sets are compared again and again: the last ones are kept parsed. */
export class PositionOrder {
  readonly #flavour: Flavour;
  readonly #sets = new Map<string, Executed>();

  constructor(flavour: Flavour) {
    this.#flavour = flavour;
  }

  /** @param inSnapshot orders two positions of the start snapshot, which comes before the log */
  compare(a: Position, b: Position, inSnapshot: (a: Position, b: Position) => number = () => 0): number {
    const left = parsePosition(a);
    const right = parsePosition(b);
    if (left.kind === 'log' && right.kind === 'log') return this.inLog(left, right);
    if (left.kind !== right.kind) return left.kind === 'snapshot' ? -1 : 1;
    return inSnapshot(a, b);
  }

  inLog(a: LogPosition, b: LogPosition): number {
    return compareLog((text) => this.#set(text), a, b);
  }

  #set(text: string): Executed {
    const known = this.#sets.get(text);
    if (known !== undefined) return known;
    const set = parseExecuted(this.#flavour, text);
    if (this.#sets.size >= KNOWN_SETS) this.#sets.clear();
    this.#sets.set(text, set);
    return set;
  }
}
