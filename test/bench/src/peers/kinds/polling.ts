import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumption } from '../process/kind.js';

/** Between two looks when there was nothing, in milliseconds. */
const IDLE = 10;

/** Several loops that take a batch as long as there is one; `take` gives the number of rows. */
export function poll(takers: readonly (() => Promise<number>)[]): Consumption {
  let isStopped = false;
  const loops = takers.map(async (take) => {
    while (!isStopped) {
      if ((await take()) === 0) await sleep(IDLE);
    }
  });
  // A peer that can't go on has to be seen: it would be taken for a slow one.
  for (const loop of loops) {
    loop.catch((error: unknown) => {
      setImmediate(() => {
        throw error;
      });
    });
  }
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}
