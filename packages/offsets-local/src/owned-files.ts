import path from 'node:path';
import type { CommitResult, Offset, OffsetSeed, RegisteredPipeline } from '@strandline/core';
import type { EpochFiles } from './epoch-files.js';
import { directoryName } from './pipeline-name.js';
import { decode, encode, misplaced, pipelineOf } from './record.js';

/** See `fileOffsets` for what these guarantee, and why. */
export async function claim(files: EpochFiles, pipeline: string, seed: OffsetSeed): Promise<Offset> {
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

export async function commit(files: EpochFiles, pipeline: string, offset: Offset): Promise<CommitResult> {
  const { newest, saved } = await files.list();
  if (newest > offset.epoch) return 'fenced';
  const [top = 0] = saved;
  const text = await files.read(top);
  const held = text === undefined ? null : decode(text, pipeline, files.file(top));
  if (held?.vacant === true) {
    // No later claim may get the epoch of who has not claimed since.
    await files.take(offset.epoch);
    return 'fenced';
  }
  const mine = top === offset.epoch ? (held?.offset ?? null) : null;
  if (mine !== null && mine.revision >= offset.revision) return 'stale';
  await files.write(offset.epoch, encode(pipeline, offset));
  // See above: only this second look makes `saved` hold against a claim that is made at the same time.
  if ((await files.list()).newest > offset.epoch) return 'fenced';
  return mine === null ? 'restored' : 'saved';
}

/** The pipeline whose directory this is, and its offset; null when it has none. Its name is in the files: a directory's is cut. */
export async function registeredIn(files: EpochFiles): Promise<RegisteredPipeline | null> {
  for (;;) {
    const [newest] = (await files.list()).saved;
    if (newest === undefined) return null;
    const text = await files.read(newest);
    if (text === undefined) continue;
    const file = files.file(newest);
    const pipeline = pipelineOf(text, file);
    if (directoryName(pipeline) !== path.basename(files.directory)) throw misplaced(pipeline, file);
    const { offset } = decode(text, pipeline, file);
    return offset && { pipeline, offset };
  }
}

/**
 * The offset that was saved last before `below` was claimed; null when there is none. That is not always the epoch just
 * below: its owner may have died right after its claim. When a later owner has cleared all of them away, it is the later
 * one's: the first commit with `below` will be fenced, but until then nobody may take this for a first run.
 */
export async function newestOffset(
  files: EpochFiles,
  pipeline: string,
  below = Infinity,
): Promise<Offset | null> {
  for (;;) {
    const { saved } = await files.list();
    const newest = saved.find((epoch) => epoch < below) ?? saved[0];
    if (newest === undefined) return null;
    const text = await files.read(newest);
    // Without one it was cleared away between the two, and by now a newer one is there.
    if (text !== undefined) return decode(text, pipeline, files.file(newest)).offset;
  }
}
