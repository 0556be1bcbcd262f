/** Rows of one statement. */
export const CHUNK = 200;

export function chunksOf<T>(items: readonly T[], size = CHUNK): T[][] {
  const chunks: T[][] = [];
  for (let from = 0; from < items.length; from += size) chunks.push(items.slice(from, from + size));
  return chunks;
}

/** Chunks that also hold at most so many bytes, or one item. */
export function chunksOfBytes<T>(items: readonly T[], bytesOf: (item: T) => number, most: number): T[][] {
  const chunks: T[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    bytes += bytesOf(item);
    const last = chunks.at(-1);
    if (last !== undefined && bytes <= most && last.length < CHUNK) {
      last.push(item);
    } else {
      chunks.push([item]);
      bytes = bytesOf(item);
    }
  }
  return chunks;
}
