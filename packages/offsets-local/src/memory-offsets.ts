import type {
  BookmarkStore,
  CommitResult,
  ControlStore,
  InstanceRegister,
  Offset,
  OffsetChange,
  OffsetSeed,
  OffsetStore,
  ReplacedOffset,
} from '@strandline/core';
import { closedError } from './errors.js';
import { besideOf, type Beside } from './memory-beside.js';
import { MemoryBookmarks } from './memory-bookmarks.js';
import { MemoryControls } from './memory-controls.js';
import { MemoryInstances } from './memory-instances.js';
import { checkName } from './pipeline-name.js';
import { isSameOffset } from './same-offset.js';

export interface MemoryOffsetsOptions {
  /**
   * Holds the offsets, and with it what belongs to them. Share one between stores to play several processes, or a
   * restart. Default: a new one.
   */
  readonly storage?: Map<string, Offset>;
}

/** Keeps offsets in memory, for tests: all is gone with the process. */
export function memoryOffsets(options: MemoryOffsetsOptions = {}): OffsetStore & AsyncDisposable {
  return new MemoryOffsets(options.storage ?? new Map<string, Offset>());
}

class MemoryOffsets implements OffsetStore {
  readonly name = 'memory';
  readonly bookmarks: BookmarkStore;
  readonly instances: InstanceRegister;
  readonly controls: ControlStore;
  readonly #storage: Map<string, Offset>;
  readonly #beside: Beside;
  #isClosed = false;

  constructor(storage: Map<string, Offset>) {
    this.#storage = storage;
    this.#beside = besideOf(storage);
    const answer = <T>(pipeline: string, work: () => T): Promise<T> => this.#answer(pipeline, work);
    this.bookmarks = new MemoryBookmarks(answer, this.#beside);
    this.instances = new MemoryInstances(answer, this.#beside);
    this.controls = new MemoryControls(answer, this.#beside);
  }

  load(pipeline: string): Promise<Offset | null> {
    return this.#answer(pipeline, () => this.#storage.get(pipeline) ?? null);
  }

  claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    return this.#answer(pipeline, () => {
      const held = this.#storage.get(pipeline);
      const epoch = this.#epochOf(pipeline) + 1;
      const first = { ...seed, completed: [], epoch, revision: 0, savedAt: new Date().toISOString() };
      const next = held === undefined ? first : { ...held, identity: seed.identity, epoch };
      return this.#keep(pipeline, next);
    });
  }

  commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    return this.#answer(pipeline, () => {
      const held = this.#storage.get(pipeline);
      if (this.#isVacant(pipeline)) {
        // No later claim may get the epoch of who has not claimed since.
        this.#leave(pipeline, held ?? null, Math.max(offset.epoch, this.#epochOf(pipeline)));
        return 'fenced';
      }
      if (held !== undefined && held.epoch > offset.epoch) return 'fenced';
      const isLost = held === undefined || held.epoch < offset.epoch;
      if (!isLost && held.revision >= offset.revision) return 'stale';
      this.#keep(pipeline, offset);
      return isLost ? 'restored' : 'saved';
    });
  }

  replace(pipeline: string, read: Offset | null, by: OffsetChange | null): Promise<'replaced' | 'changed'> {
    return this.#answer(pipeline, () => {
      if (!isSameOffset(this.#storage.get(pipeline) ?? null, read)) return 'changed';
      const savedAt = new Date().toISOString();
      const epoch = this.#epochOf(pipeline) + 1;
      this.#beside.replaced.set(pipeline, { offset: read && changeOf(read), replacedAt: savedAt });
      this.#leave(pipeline, by && { ...changeOf(by), epoch, revision: 0, savedAt }, epoch);
      return 'replaced';
    });
  }

  replaced(pipeline: string): Promise<ReplacedOffset | null> {
    return this.#answer(pipeline, () => this.#beside.replaced.get(pipeline) ?? null);
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

  #epochOf(pipeline: string): number {
    return this.#storage.get(pipeline)?.epoch ?? this.#beside.resetAt.get(pipeline) ?? 0;
  }

  #isVacant(pipeline: string): boolean {
    const held = this.#storage.get(pipeline);
    return held === undefined ? this.#beside.resetAt.has(pipeline) : this.#beside.vacant.has(held);
  }

  /** Nobody owns it. */
  #leave(pipeline: string, offset: Offset | null, epoch: number): void {
    if (offset !== null) {
      this.#beside.vacant.add(this.#keep(pipeline, { ...offset, epoch }));
      return;
    }
    this.#storage.delete(pipeline);
    this.#beside.resetAt.set(pipeline, epoch);
  }

  /** A copy: what the caller changes later does not change what is saved. */
  #keep(pipeline: string, offset: Offset): Offset {
    const copy = structuredClone(offset);
    this.#storage.set(pipeline, copy);
    this.#beside.resetAt.delete(pipeline);
    return copy;
  }
}

function changeOf({ identity, watermark, completed }: OffsetChange): OffsetChange {
  return structuredClone({ identity, watermark, completed });
}
