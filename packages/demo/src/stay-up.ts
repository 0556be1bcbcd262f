import { once } from 'node:events';
import type { ShopDatabase } from './database/shop-database.js';
import { Interrupted } from './interrupt.js';
import { startWriters } from './writers.js';

/** A few events a second: enough to see something move, and to find one again. */
const WRITERS = 2;
const LINGER_MS = 600;

/** The shop goes on at an easy pace until Ctrl-C. */
export async function stayUp(
  open: (client: string, connections: number) => ShopDatabase,
  signal: AbortSignal,
): Promise<void> {
  const writing = startWriters({
    open: (connections) => open('shop writer', connections),
    writers: WRITERS,
    lingerMs: LINGER_MS,
  });
  const ended = AbortSignal.any([signal, writing.failed]);
  if (!ended.aborted) await once(ended, 'abort');
  await writing.stop();
  // Ctrl-C is how this is meant to end; anything else is a failure.
  if (!(ended.reason instanceof Interrupted)) throw ended.reason;
}
