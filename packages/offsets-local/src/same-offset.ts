import type { Offset } from '@strandline/core';

/** Whether it is still the one that was read: a store that was lost and made anew may count the same. */
export function isSameOffset(held: Offset | null, read: Offset | null): boolean {
  if (held === null || read === null) return held === read;
  return (
    held.epoch === read.epoch &&
    held.revision === read.revision &&
    held.watermark === read.watermark &&
    held.savedAt === read.savedAt
  );
}
