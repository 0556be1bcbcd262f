import type { CommitResult, Offset, OffsetSeed, OffsetStore } from '@strandline/core';
import { closedError } from './errors.js';
import { checkName } from './pipeline-name.js';

export interface MemoryOffsetsOptions {
  /** Holds the offsets. Share one between stores to play several processes, or a restart. Default: a new one. */
  readonly storage?: Map<string, Offset>;
}

/** Keeps offsets in memory, for tests: all is gone with the process. */
export function memoryOffsets(options: MemoryOffsetsOptions = {}): OffsetStore & AsyncDisposable {
  return new MemoryOffsets(options.storage ?? new Map<string, Offset>());
}

class MemoryOffsets implements OffsetStore {
  readonly name = 'memory';
  readonly #storage: Map<string, Offset>;
  #isClosed = false;

  constructor(storage: Map<string, Offset>) {
    this.#storage = storage;
  }

  load(pipeline: string): Promise<Offset | null> {
    return this.#answer(pipeline, () => this.#storage.get(pipeline) ?? null);
  }

  claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    return this.#answer(pipeline, () => {
      const held = this.#storage.get(pipeline);
      const first = { ...seed, completed: [], epoch: 1, revision: 0, savedAt: new Date().toISOString() };
      const next = held === undefined ? first : { ...held, identity: seed.identity, epoch: held.epoch + 1 };
      return this.#keep(pipeline, next);
    });
  }

  commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    return this.#answer(pipeline, () => {
      const held = this.#storage.get(pipeline);
      if (held !== undefined && held.epoch > offset.epoch) return 'fenced';
      const isLost = held === undefined || held.epoch < offset.epoch;
      if (!isLost && held.revision >= offset.revision) return 'stale';
      this.#keep(pipeline, offset);
      return isLost ? 'restored' : 'saved';
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** As with any other store, what is wrong comes as a rejection. */
  #answer<T>(pipeline: string, work: () => T): Promise<T> {
    return new Promise((resolve) => {
      if (this.#isClosed) throw closedError(this.name);
      checkName(pipeline);
      resolve(work());
    });
  }

  /** A copy: what the caller changes later does not change what is saved. */
  #keep(pipeline: string, offset: Offset): Offset {
    const copy = structuredClone(offset);
    this.#storage.set(pipeline, copy);
    return copy;
  }
}
