import { invariant } from './errors.js';
import type { OutboxEvent } from './event.js';
import type { Entry } from './strand.js';

/**
 * The events of one parked key that were admitted and are not stored yet, oldest first. Of one key at most one store
 * is under way, of the oldest ones.
 */
export class ParkedStrand {
  #head: Entry | null = null;
  #tail: Entry | null = null;
  #length = 0;
  /** How many from the head on are being stored. */
  storing = 0;
  /** It waits to be stored, or is being stored. */
  queued = false;
  /** Nothing of it may be stored for now. */
  held = false;
  /** At most so many are stored at once. */
  most = Infinity;

  constructor(readonly key: string) {}

  get length(): number {
    return this.#length;
  }

  get oldest(): OutboxEvent | null {
    return this.#head?.event ?? null;
  }

  push(entry: Entry): void {
    if (this.#tail === null) this.#head = entry;
    else this.#tail.next = entry;
    this.#tail = entry;
    this.#length += 1;
  }

  shift(): Entry {
    const entry = this.#head;
    invariant(entry !== null, () => `the parked key ${JSON.stringify(this.key)} has no events`);
    this.#head = entry.next;
    if (this.#head === null) this.#tail = null;
    entry.next = null;
    this.#length -= 1;
    return entry;
  }

  /** The oldest ones. */
  first(count: number): Entry[] {
    const entries: Entry[] = [];
    for (let entry = this.#head; entry !== null && entries.length < count; entry = entry.next)
      entries.push(entry);
    return entries;
  }
}

/** The keys whose events are stored instead of handled, and what of them is not stored yet. */
export class ParkedStrands {
  readonly #strands = new Map<string, ParkedStrand>();
  #toStore: ParkedStrand[] = [];

  get size(): number {
    return this.#strands.size;
  }

  has(key: string): boolean {
    return this.#strands.has(key);
  }

  keys(): Iterable<string> {
    return this.#strands.keys();
  }

  add(key: string): ParkedStrand {
    const known = this.#strands.get(key);
    if (known !== undefined) return known;
    const strand = new ParkedStrand(key);
    this.#strands.set(key, strand);
    return strand;
  }

  get(key: string): ParkedStrand | undefined {
    return this.#strands.get(key);
  }

  push(strand: ParkedStrand, entry: Entry): void {
    strand.push(entry);
    this.queue(strand);
  }

  /** Has it stored, if there is something to store. */
  queue(strand: ParkedStrand): void {
    if (strand.queued || strand.held || strand.length === 0) return;
    strand.queued = true;
    this.#toStore.push(strand);
  }

  /** Has nothing more of it stored; what is being stored goes on. */
  hold(strand: ParkedStrand): void {
    strand.held = true;
    if (!strand.queued || strand.storing > 0) return;
    strand.queued = false;
    this.#toStore = this.#toStore.filter((other) => other !== strand);
  }

  /** The next key to store, with at most so many of its events; null when there is none. */
  take(max: number): ParkedStrand | null {
    const strand = this.#toStore.shift();
    if (strand === undefined) return null;
    strand.storing = Math.min(max, strand.most, strand.length);
    return strand;
  }

  /** The key is live again. Tells what was not stored. */
  remove(key: string): ParkedStrand | null {
    const strand = this.#strands.get(key);
    if (strand === undefined) return null;
    invariant(strand.storing === 0, () => `the parked key ${JSON.stringify(key)} is being stored`);
    this.hold(strand);
    this.#strands.delete(key);
    return strand;
  }
}
