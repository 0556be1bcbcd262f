import type { Strand } from './strand.js';

/** Strands that may run, served first come first served: a hot key gets one turn at a time. */
export class ReadyQueue {
  #first: Strand | null = null;
  #last: Strand | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(strand: Strand): void {
    if (this.#last === null) this.#first = strand;
    else this.#last.nextReady = strand;
    this.#last = strand;
    this.#size += 1;
  }

  shift(): Strand | null {
    const strand = this.#first;
    if (strand === null) return null;
    this.#first = strand.nextReady;
    if (this.#first === null) this.#last = null;
    strand.nextReady = null;
    this.#size -= 1;
    return strand;
  }

  /** Takes out those that fit, in one pass over all: only an operator asks for it. */
  withdraw(fits: (strand: Strand) => boolean): Strand[] {
    const withdrawn: Strand[] = [];
    let strand = this.#first;
    this.#first = null;
    this.#last = null;
    this.#size = 0;
    while (strand !== null) {
      const { nextReady } = strand;
      strand.nextReady = null;
      if (fits(strand)) withdrawn.push(strand);
      else this.push(strand);
      strand = nextReady;
    }
    return withdrawn;
  }
}
