import type { Keyspace, RedisNode } from './client.js';
import { OffsetsError } from './errors.js';

/** Each takes as long as it takes to scan all nodes: hash slots that move one by one, move for that long. */
const MOST_TRIES = 5;

export interface ScanAllParts {
  /** Names the server, or the cluster. */
  readonly name: string;
  readonly keyspace: () => Promise<Keyspace>;
  readonly scan: (node: RedisNode) => Promise<void>;
}

/**
 * Scans all nodes that have keys, and again when some of them have moved meanwhile: a key can have left a node before that
 * was scanned, for one that had been, or that was not there yet.
 */
export async function scanAll({ name, keyspace, scan }: ScanAllParts): Promise<void> {
  let before = await keyspace();
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    for (const node of before.nodes) await scan(node);
    const after = await keyspace();
    if (after.layout === before.layout) return;
    before = after;
  }
  throw new OffsetsError(
    'OFFSETS_UNAVAILABLE',
    `The hash slots of ${name} are moving: its keys could not be listed.`,
    'It goes on by itself once they have moved.',
  );
}
