import type { PeerRow } from '../peer.js';
import type { Handle } from '../process/kind.js';

/** Handles the rows of a batch: those of one key one after another, the keys side by side. */
export async function handleBatch(rows: readonly PeerRow[], handle: Handle): Promise<void> {
  const keys = new Map<string, PeerRow[]>();
  for (const row of rows) {
    const ofKey = keys.get(row.key);
    if (ofKey === undefined) keys.set(row.key, [row]);
    else ofKey.push(row);
  }
  await Promise.all(
    [...keys.values()].map(async (ofKey) => {
      for (const row of ofKey) await handle(row);
    }),
  );
}
