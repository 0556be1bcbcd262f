import { setTimeout as sleep } from 'node:timers/promises';
import type { Life } from './life.js';

/** Not everything was handled in time. */
export interface Unrest {
  readonly says: string;
  /** What each process says of itself. */
  readonly crew: readonly string[];
}

const ANSWER_WITHIN = 2_000;

/** What a process does right now, in a line. */
export async function stateOf({ run, process }: Life): Promise<string> {
  const asked = process.report().catch(() => null);
  const report = await Promise.race([asked, sleep(ANSWER_WITHIN, null)]);
  if (report === null) return `run ${String(run)} does not answer`;
  const { state, paused, unsettled, running, parked, source, offsetsAvailable } = report.status;
  const said = { state, paused, unsettled, running, parked, source, offsetsAvailable };
  return `run ${String(run)} (pid ${String(process.pid)}): ${JSON.stringify(said)}`;
}
