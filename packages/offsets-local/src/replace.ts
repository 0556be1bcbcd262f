import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Offset, OffsetChange, ReplacedOffset } from '@strandline/core';
import type { EpochFiles } from './epoch-files.js';
import { newestOffset } from './owned-files.js';
import { decodeReplaced, encodeReplaced, encodeVacant } from './record.js';
import { isSameOffset } from './same-offset.js';
import { readWhole, writeWhole } from './whole-files.js';

/** Milliseconds that a process gets to write the offset of an epoch that it has taken; after that it has died. */
const SETTLING = 1_000;
/** Milliseconds between looks. */
const LOOK = 10;

/**
 * Takes the next epoch, as a claim does, so that the running owner is fenced, and leaves it to nobody. Of several that
 * have seen the same, one gets the epoch. When the owner commits between the look and the taking, it is fenced for
 * nothing: it claims again, and nothing is lost.
 */
export async function replace(
  files: EpochFiles,
  pipeline: string,
  read: Offset | null,
  by: OffsetChange | null,
): Promise<'replaced' | 'changed'> {
  const epoch = (await settled(files)) + 1;
  if (!isSameOffset(await newestOffset(files, pipeline), read)) return 'changed';
  if (!(await files.take(epoch)) || (await files.list()).newest > epoch) return 'changed';
  if (!isSameOffset(await newestOffset(files, pipeline, epoch), read)) return 'changed';
  const now = new Date().toISOString();
  // First, so that there is always a way back; that what is still there was replaced does no harm.
  await writeWhole(fileOfReplaced(files.directory), encodeReplaced(pipeline, read, now));
  await files.write(epoch, encodeVacant(pipeline, epoch, by, now));
  if ((await files.list()).newest > epoch)
    return (await isThere(files, pipeline, by, now)) ? 'replaced' : 'changed';
  await files.removeBelow(epoch);
  return 'replaced';
}

export async function readReplaced(directory: string, pipeline: string): Promise<ReplacedOffset | null> {
  const file = fileOfReplaced(directory);
  const text = await readWhole(file);
  return text === undefined ? null : decodeReplaced(text, pipeline, file);
}

/** The newest epoch, once there is an offset of it, or its owner has died before. */
async function settled(files: EpochFiles): Promise<number> {
  const giveUpAt = performance.now() + SETTLING;
  for (;;) {
    const { newest, saved } = await files.list();
    if (newest === (saved[0] ?? 0) || performance.now() > giveUpAt) return newest;
    await sleep(LOOK);
  }
}

/** A process has claimed since: has it found what was put there? A claim keeps the time of what it finds. */
async function isThere(
  files: EpochFiles,
  pipeline: string,
  by: OffsetChange | null,
  savedAt: string,
): Promise<boolean> {
  await settled(files);
  const found = await newestOffset(files, pipeline);
  return found?.savedAt === savedAt && found.watermark === by?.watermark;
}

function fileOfReplaced(directory: string): string {
  return path.join(directory, 'replaced.json');
}
