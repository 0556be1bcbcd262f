import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf, ServerError } from '../errors.js';
import type { ServerProcess } from './server-process.js';

/** A recovery after a kill takes longer than a start, and a test machine may be busy. */
const readyDeadlineMs = 60_000;

/** Asks until the server answers; throws with its log when it ends or the deadline passes. */
export async function untilReady(
  name: string,
  server: ServerProcess,
  ask: () => Promise<void>,
): Promise<void> {
  const giveUpAt = Date.now() + readyDeadlineMs;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (server.running && Date.now() < giveUpAt) {
        await delay(20);
        continue;
      }
      throw new ServerError(
        'SERVER_START_FAILED',
        `${name} on port ${String(server.port)} did not come up: ${reasonOf(error)}. ${await server.diagnosis()}`,
        'Look at the log above; what the server objects to is usually its last lines.',
        error,
      );
    }
  }
}
