import {
  StrandlineError,
  type Bookmark,
  type BookmarkStore,
  type LogReader,
  type LogReaderRequest,
  type LogState,
  type Offset,
  type OffsetStore,
  type ReplacedOffset,
  type Source,
} from '@strandline/core';
import { definePipeline, type Pipeline } from '../../src/pipeline.js';
import { compare, FakeStore, keptLog, noSource, position } from '../fixtures.js';

export const IDENTITY = { system: '7301' };

/** A log of which only its reach is asked for: after `earliest` up to `head`, ten bytes a position. */
export class Reach implements Source {
  readonly name = 'reach';
  earliest: number | null = 10;
  head = 100;
  trouble: Error | null = null;
  /** What readers were asked for; each is closed again. */
  readonly asked: LogReaderRequest['from'][] = [];
  openReaders = 0;

  open(): Promise<never> {
    return noSource.open({} as never) as Promise<never>;
  }

  inspect(): Promise<LogState> {
    if (this.trouble !== null) return Promise.reject(this.trouble);
    return Promise.resolve({
      identity: IDENTITY,
      head: position(this.head),
      earliest: this.earliest === null ? null : position(this.earliest),
      retainedBytes: 900,
      bytesBehind: (at) => 10 * (this.head - Number(at.slice(1))),
      compare: ordered,
    });
  }

  reader({ from }: LogReaderRequest): Promise<LogReader> {
    this.asked.push(from);
    if (typeof from === 'object' && 'after' in from && from.identity['system'] !== IDENTITY.system)
      return Promise.reject(new StrandlineError('LOG_FOREIGN', 'It is of another log.', 'Correct it.'));
    this.openReaders += 1;
    const close = (): Promise<void> => {
      this.openReaders -= 1;
      return Promise.resolve();
    };
    return Promise.resolve({
      identity: IDENTITY,
      start: position(40),
      compare: ordered,
      bytesBetween: () => null,
      read: () => {
        throw new Error('this test reads nothing');
      },
      close,
      [Symbol.asyncDispose]: close,
    });
  }
}

/** As a real source does, it refuses what it has not written. */
function ordered(a: string, b: string): number {
  if (![a, b].every((text) => /^p\d+$/.test(text)))
    throw new StrandlineError('LOG_POSITION', 'That is no position.', 'Correct it.');
  return compare(a, b);
}

/** Offsets and bookmarks of one pipeline. */
export class DeskStore extends FakeStore {
  wasReplaced: ReplacedOffset | null = null;
  /** Runs before an offset is replaced: somebody else is faster. */
  before: () => void = () => undefined;
  readonly marks = new Map<string, Bookmark>();

  override replace: OffsetStore['replace'] = (_, read, by) => {
    this.before();
    if (this.saved !== read) return Promise.resolve('changed');
    this.wasReplaced = { offset: read, replacedAt: '2026-01-01T00:00:00.000Z' };
    this.saved = by && {
      ...by,
      epoch: (read?.epoch ?? 0) + 1,
      revision: 0,
      savedAt: '2026-01-01T00:00:01.000Z',
    };
    return Promise.resolve('replaced');
  };

  override replaced(): Promise<ReplacedOffset | null> {
    return Promise.resolve(this.wasReplaced);
  }
}

export function marksOf(marks: Map<string, Bookmark>): BookmarkStore {
  return {
    list: () => Promise.resolve([...marks.values()]),
    get: (pipeline, name) => Promise.resolve(pipeline === 'shop' ? (marks.get(name) ?? null) : null),
    create: (pipeline, bookmark) => {
      if (pipeline !== 'shop' || marks.has(bookmark.name)) return Promise.resolve('exists');
      marks.set(bookmark.name, bookmark);
      return Promise.resolve('created');
    },
    delete: (pipeline, name) => Promise.resolve(pipeline === 'shop' && marks.delete(name)),
  };
}

export interface DeskWorld {
  readonly pipeline: Pipeline;
  readonly source: Reach;
  readonly store: DeskStore;
}

export function deskWorld(saved: Offset | null): DeskWorld {
  const source = new Reach();
  const store = Object.assign(new DeskStore(), { saved });
  Object.assign(store, { bookmarks: marksOf(store.marks) });
  const pipeline = definePipeline({
    name: 'shop',
    source,
    offsets: store,
    log: keptLog().log,
    handle: () => undefined,
  });
  return { pipeline, source, store };
}
