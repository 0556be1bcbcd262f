import {
  NO_CONTROLS,
  type Bookmark,
  type Controls,
  type InstanceReport,
  type LetterCounts,
  type LogState,
  type Offset,
  type OffsetStore,
} from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import { createLog } from '../log.js';
import { lookAt, type Looked } from './looked.js';

/** All that can be seen of a pipeline from outside. */
export interface Seen {
  readonly pipeline: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly offset: Looked<Offset | null>;
  readonly instances: Looked<readonly InstanceReport[]>;
  readonly bookmarks: Looked<readonly Bookmark[]>;
  readonly controls: Looked<Controls>;
  readonly log: Looked<LogState>;
  /** Null without a place for dead letters. */
  readonly letters: Looked<LetterCounts> | null;
}

/** Asks the offset store, the source and the dead-letter table at once, and touches nothing. */
export async function lookAtPipeline({ name, offsets, source, deadLetters }: Pipeline): Promise<Seen> {
  const [offset, instances, bookmarks, controls, log, letters] = await Promise.all([
    lookAt(() => offsets.load(name)),
    lookAt(() => offsets.instances.list(name)),
    lookAt(() => offsets.bookmarks.list(name)),
    lookAt(() => controlsOf(offsets, name)),
    lookAt((signal) => source.inspect({ pipeline: name, signal, log: createLog('silent') })),
    deadLetters === null ? null : lookAt(() => deadLetters.counts()),
  ]);
  return { pipeline: name, at: Date.now(), offset, instances, bookmarks, controls, log, letters };
}

/** A store of an older copy of the packages, which a config may bring, has none. */
async function controlsOf(offsets: OffsetStore, name: string): Promise<Controls> {
  const { controls } = offsets as Partial<OffsetStore>;
  return controls === undefined ? NO_CONTROLS : controls.load(name);
}
