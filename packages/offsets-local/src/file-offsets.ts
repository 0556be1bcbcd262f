import path from 'node:path';
import {
  invariant,
  type CommitResult,
  type Offset,
  type OffsetSeed,
  type OffsetStore,
} from '@strandline/core';
import { EpochFiles } from './epoch-files.js';
import { closedError, OffsetsError } from './errors.js';
import { directoryName } from './pipeline-name.js';
import { decode, encode } from './record.js';
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
  readonly #directory: string;
  readonly #turns = new Turns();
  #isClosed = false;

  constructor(directory: string) {
    this.name = `file:${directory}`;
    this.#directory = directory;
  }

  load(pipeline: string): Promise<Offset | null> {
    return this.#inTurn(pipeline, (files) => newestOffset(files, pipeline, Infinity));
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

async function claim(files: EpochFiles, pipeline: string, seed: OffsetSeed): Promise<Offset> {
  const epoch = await takeEpoch(files);
  const former = await newestOffset(files, pipeline, epoch);
  const offset: Offset =
    former === null
      ? { ...seed, completed: [], epoch, revision: 0, savedAt: new Date().toISOString() }
      : { ...former, identity: seed.identity, epoch };
  await files.write(epoch, encode(pipeline, offset));
  await files.removeBelow(epoch);
  return offset;
}

/**
 * Between the look and the claim, another process can have had this very epoch, and a third one cleared it away.
 * Then a newer one is there, and stays until a still newer one is: so it is ours only when there is none.
 */
async function takeEpoch(files: EpochFiles): Promise<number> {
  for (;;) {
    const epoch = (await files.list()).newest + 1;
    const isTaken = await files.take(epoch);
    if (isTaken && (await files.list()).newest === epoch) return epoch;
  }
}

async function commit(files: EpochFiles, pipeline: string, offset: Offset): Promise<CommitResult> {
  const { newest, saved } = await files.list();
  if (newest > offset.epoch) return 'fenced';
  const text = saved.includes(offset.epoch) ? await files.read(offset.epoch) : undefined;
  const held = text === undefined ? undefined : decode(text, pipeline, files.file(offset.epoch));
  if (held !== undefined && held.revision >= offset.revision) return 'stale';
  await files.write(offset.epoch, encode(pipeline, offset));
  // See above: only this second look makes `saved` hold against a claim that is made at the same time.
  if ((await files.list()).newest > offset.epoch) return 'fenced';
  return held === undefined ? 'restored' : 'saved';
}

/**
 * The offset that was saved last before `below` was claimed. That is not always the epoch just below: its owner
 * may have died right after its claim. When a later owner has cleared all of them away, it is the later one's:
 * the first commit with `below` will be fenced, but until then nobody may take this for a first run.
 */
async function newestOffset(files: EpochFiles, pipeline: string, below: number): Promise<Offset | null> {
  for (;;) {
    const { saved } = await files.list();
    const newest = saved.find((epoch) => epoch < below) ?? saved[0];
    if (newest === undefined) return null;
    const text = await files.read(newest);
    // Without one it was cleared away between the two, and by now a newer one is there.
    if (text !== undefined) return decode(text, pipeline, files.file(newest));
  }
}
