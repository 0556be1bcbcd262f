import {
  StrandlineError,
  type Bookmark,
  type BookmarkStore,
  type CommitResult,
  type LogReader,
  type LogReaderRequest,
  type LogState,
  type Offset,
  type OffsetChange,
  type OffsetSeed,
  type OffsetStore,
  type OutboxEvent,
  type ReplacedOffset,
  type Source,
  type SourceBatch,
} from '@strandline/core';
import { compare, FakeControls, FakeInstances, noSource, offsetAt, position } from './fixtures.js';

const IDENTITY = { system: '7301' };

/** A source whose log the test writes, and which any number of readers read beside its owner. */
export class ScriptedLog implements Source {
  readonly name = 'scripted';
  readonly readers: ScriptedReader[] = [];
  readonly requests: LogReaderRequest[] = [];
  /** Events are handed over one a batch, as if each were a transaction's; or all of them inside one. */
  insideTransaction = false;
  /** Where an idle log ends, when that is further on than its last event. */
  idleUntil = 0;
  readonly #events: OutboxEvent[];

  constructor(events: readonly OutboxEvent[]) {
    this.#events = [...events];
  }

  get events(): readonly OutboxEvent[] {
    return this.#events;
  }

  append(...events: readonly OutboxEvent[]): void {
    this.#events.push(...events);
    for (const reader of this.readers) reader.wake();
  }

  get head(): number {
    return Math.max(this.idleUntil, ...this.#events.map((event) => Number(event.position.slice(1))));
  }

  open(): ReturnType<Source['open']> {
    return noSource.open({} as never);
  }

  reader(request: LogReaderRequest): Promise<LogReader> {
    this.requests.push(request);
    const { from } = request;
    if (typeof from === 'object' && 'after' in from && from.identity['system'] !== IDENTITY.system)
      return Promise.reject(new StrandlineError('FOREIGN', 'Another log.', 'Correct it.'));
    const reader = new ScriptedReader(this, position(this.#startOf(from)));
    this.readers.push(reader);
    return Promise.resolve(reader);
  }

  inspect(): Promise<LogState> {
    const head = position(this.head);
    const state = { identity: IDENTITY, head, earliest: position(0), retainedBytes: null, compare };
    return Promise.resolve({ ...state, bytesBehind: () => null });
  }

  #startOf(from: LogReaderRequest['from']): number {
    if (from === 'earliest') return 0;
    if (from === 'now') return this.head;
    if ('after' in from) return Number(from.after.slice(1));
    const first = this.#events.find(({ transaction }) => transaction.commitTime >= from.time);
    return first === undefined ? this.head : Number(first.position.slice(1)) - 1;
  }
}

export class ScriptedReader implements LogReader {
  readonly identity = IDENTITY;
  closed = 0;
  /** Events that were handed over. */
  given = 0;
  #wake: () => void = () => undefined;

  constructor(
    readonly log: ScriptedLog,
    readonly start: string,
  ) {}

  async *read(): AsyncGenerator<SourceBatch> {
    let at = Number(this.start.slice(1));
    while (this.closed === 0) {
      const next = this.log.events.find((event) => compare(event.position, position(at)) > 0);
      if (next !== undefined) {
        at = Number(next.position.slice(1));
        this.given += 1;
        yield { events: [next], passed: this.log.insideTransaction ? null : next.position };
      } else if (at < this.log.head) {
        at = this.log.head;
        yield { events: [], passed: position(at) };
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  wake(): void {
    this.#wake();
  }

  compare(a: string, b: string): number {
    return compare(a, b);
  }

  bytesBetween(a: string, b: string): number {
    return compare(b, a);
  }

  close(): Promise<void> {
    this.closed += 1;
    this.#wake();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Offsets in memory, with bookmarks. */
export class KeptOffsets implements OffsetStore {
  readonly name = 'kept';
  readonly instances = new FakeInstances();
  readonly bookmarks = new KeptBookmarks();
  readonly controls = new FakeControls();
  readonly offsets = new Map<string, Offset>();
  closed = 0;
  /** Answers a commit first; the default is to go on. */
  answer: () => void = () => undefined;
  readonly #epochs = new Map<string, number>();

  load(pipeline: string): Promise<Offset | null> {
    return Promise.resolve(this.offsets.get(pipeline) ?? null);
  }

  claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    const epoch = (this.#epochs.get(pipeline) ?? 0) + 1;
    this.#epochs.set(pipeline, epoch);
    const held = this.offsets.get(pipeline);
    const next =
      held === undefined
        ? offsetAt(0, { ...seed, epoch, revision: 0 })
        : { ...held, identity: seed.identity, epoch };
    this.offsets.set(pipeline, next);
    return Promise.resolve(next);
  }

  async commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    await Promise.resolve();
    this.answer();
    const held = this.offsets.get(pipeline);
    if ((this.#epochs.get(pipeline) ?? 0) > offset.epoch) return 'fenced';
    if (held !== undefined && held.revision >= offset.revision) return 'stale';
    this.offsets.set(pipeline, offset);
    return 'saved';
  }

  replace(pipeline: string, read: Offset | null, by: OffsetChange | null): Promise<'replaced' | 'changed'> {
    const held = this.offsets.get(pipeline) ?? null;
    if (held?.revision !== read?.revision || held?.epoch !== read?.epoch) return Promise.resolve('changed');
    if (by === null) this.offsets.delete(pipeline);
    return Promise.resolve('replaced');
  }

  replaced(): Promise<ReplacedOffset | null> {
    return Promise.resolve(null);
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}

class KeptBookmarks implements BookmarkStore {
  readonly kept: Bookmark[] = [];

  /** Makes one at the n-th position. */
  at(name: string, n: number, identity: Readonly<Record<string, string>> = IDENTITY): void {
    this.kept.push({
      name,
      position: position(n),
      identity,
      committedAt: null,
      createdAt: '2026-01-01T00:00:00Z',
    });
  }

  list(): Promise<readonly Bookmark[]> {
    return Promise.resolve(this.kept);
  }

  get(pipeline: string, name: string): Promise<Bookmark | null> {
    return Promise.resolve(this.kept.find((one) => pipeline === 'shop' && one.name === name) ?? null);
  }

  create(): Promise<'exists'> {
    return Promise.resolve('exists');
  }

  delete(): Promise<boolean> {
    return Promise.resolve(false);
  }
}
