/** A chunk that took less than this part of the longest that it may is followed by a larger one. */
const QUICK = 0.5;

export interface PaceLimits {
  /** Rows. */
  readonly chunk: number;
  /** Milliseconds. */
  readonly longest: number;
}

/** Rows of the next chunk, by how long the last one took, in milliseconds. It shrinks at once and grows by a quarter. */
export function nextChunk(size: number, took: number, { chunk, longest }: PaceLimits): number {
  if (took > longest) return Math.max(1, Math.floor(size / 2));
  if (took >= longest * QUICK) return Math.min(size, chunk);
  return Math.min(chunk, Math.ceil(size * 1.25));
}

/** Milliseconds of rest after so many of work, so that `duty` of the time is spent working. */
export function restAfter(took: number, duty: number): number {
  return (took * (1 - duty)) / duty;
}
