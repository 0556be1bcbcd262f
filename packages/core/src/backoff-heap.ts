import type { Strand } from './strand.js';

/** Strands in backoff, the one that is due first on top: a binary heap over `dueAt`. */
export class BackoffHeap {
  readonly #heap: Strand[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** When the first strand is due, or null when none waits. */
  get nextDueAt(): number | null {
    return this.#heap[0]?.dueAt ?? null;
  }

  push(strand: Strand): void {
    this.#rise(this.#heap.push(strand) - 1);
  }

  /** Takes out a strand before its time, wherever it is: that is looked for, since only an operator asks for it. */
  remove(strand: Strand): void {
    const heap = this.#heap;
    const index = heap.indexOf(strand);
    if (index < 0) return;
    const last = heap.pop();
    if (last === undefined || index === heap.length) return;
    heap[index] = last;
    this.#rise(index);
    this.#sink(index);
  }

  /** Takes the strand that is due first, if its time has come. */
  popDue(now: number): Strand | null {
    const heap = this.#heap;
    const top = heap[0];
    if (top === undefined || top.dueAt > now) return null;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) {
      heap[0] = last;
      this.#sink(0);
    }
    return top;
  }

  #rise(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#dueAt(parent) <= this.#dueAt(index)) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(from: number): void {
    const size = this.#heap.length;
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let least = index;
      if (left < size && this.#dueAt(left) < this.#dueAt(least)) least = left;
      if (right < size && this.#dueAt(right) < this.#dueAt(least)) least = right;
      if (least === index) return;
      this.#swap(index, least);
      index = least;
    }
  }

  #dueAt(index: number): number {
    return this.#heap[index]?.dueAt ?? Infinity;
  }

  #swap(a: number, b: number): void {
    const held = this.#heap[a];
    const other = this.#heap[b];
    if (held === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = held;
  }
}
