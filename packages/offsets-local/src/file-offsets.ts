import path from 'node:path';
import {
  invariant,
  type BookmarkStore,
  type CommitResult,
  type ControlStore,
  type InstanceRegister,
  type Offset,
  type OffsetChange,
  type OffsetSeed,
  type OffsetStore,
  type ReplacedOffset,
} from '@strandline/core';
import { EpochFiles } from './epoch-files.js';
import { closedError, OffsetsError } from './errors.js';
import { FileBookmarks } from './file-bookmarks.js';
import { FileControls } from './file-controls.js';
import { FileInstances } from './file-instances.js';
import { claim, commit, newestOffset } from './owned-files.js';
import { directoryName } from './pipeline-name.js';
import { readReplaced, replace } from './replace.js';
import { Turns } from './turns.js';

export interface FileOffsetsOptions {
  /** Where the offsets are kept, on a local disk. It is made when it is missing. */
  readonly directory: string;
}

/**
 * Keeps offsets in files: for trying things out, and for pipelines that only ever run on one machine.
 *
 * What is guaranteed, between any processes that share the directory, without locks and clocks (so nothing is
 * left locked by a process that was killed or stopped):
 *
 * - Each epoch has one owner: its claim file is created exclusively, and a number that was used is not taken again.
 * - A commit that returns `saved` is seen by every later claim. The owner writes and *then* looks for a newer
 *   claim; a claimer makes its claim and *then* reads. So either the commit sees the claim and returns `fenced`,
 *   or the claim came after that look, and reads what was written.
 * - An owner writes only to the file of its own epoch, so a former owner can't overwrite a newer one's offset.
 * - What was saved outlives a crash of the machine, as far as its disk keeps what it has synced.
 *
 * @throws OffsetsError `OFFSETS_CONFIG` for wrong options.
 */
export function fileOffsets(options: FileOffsetsOptions): OffsetStore & AsyncDisposable {
  const directory: unknown = (options as Partial<FileOffsetsOptions> | undefined)?.directory;
  if (typeof directory !== 'string' || directory === '') {
    const found = directory === undefined ? 'missing' : JSON.stringify(directory);
    throw new OffsetsError(
      'OFFSETS_CONFIG',
      `fileOffsets: \`directory\` must be a path (it is ${found}).`,
      'Correct the option.',
    );
  }
  return new FileOffsets(path.resolve(directory));
}

class FileOffsets implements OffsetStore {
  readonly name: string;
  readonly bookmarks: BookmarkStore;
  readonly instances: InstanceRegister;
  readonly controls: ControlStore;
  readonly #directory: string;
  readonly #turns = new Turns();
  #isClosed = false;

  constructor(directory: string) {
    this.name = `file:${directory}`;
    this.#directory = directory;
    const at = <T>(pipeline: string, work: (directory: string) => Promise<T>): Promise<T> =>
      this.#inTurn(pipeline, (files) => work(files.directory));
    this.bookmarks = new FileBookmarks(at);
    this.instances = new FileInstances(at);
    this.controls = new FileControls(at);
  }

  load(pipeline: string): Promise<Offset | null> {
    return this.#inTurn(pipeline, (files) => newestOffset(files, pipeline));
  }

  claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    return this.#inTurn(pipeline, (files) => claim(files, pipeline, seed));
  }

  async commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    invariant(
      Number.isSafeInteger(offset.epoch) && offset.epoch > 0,
      `epoch ${String(offset.epoch)} is no counter`,
    );
    return this.#inTurn(pipeline, (files) => commit(files, pipeline, offset));
  }

  replace(pipeline: string, read: Offset | null, by: OffsetChange | null): Promise<'replaced' | 'changed'> {
    return this.#inTurn(pipeline, (files) => replace(files, pipeline, read, by));
  }

  replaced(pipeline: string): Promise<ReplacedOffset | null> {
    return this.#inTurn(pipeline, (files) => readReplaced(files.directory, pipeline));
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.idle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Two commits of one owner must not pass each other between looking and writing. */
  async #inTurn<T>(pipeline: string, work: (files: EpochFiles) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError(this.name);
    const directory = path.join(this.#directory, directoryName(pipeline));
    return this.#turns.take(directory, () => work(new EpochFiles(directory)));
  }
}
