import type { Logger } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import type { Context } from 'hono';
import { addressOf } from '../guard/caller.js';
import { problemOf } from '../api/problem.js';
import type { AuditLog } from './audit-log.js';

/** Characters: those of who holds a key. */
const LONGEST_BY = 100;

export interface Audited {
  readonly action: string;
  readonly pipeline: Pipeline;
  /** As they call themselves. */
  readonly by: string | undefined;
  readonly about: Readonly<Record<string, unknown>>;
}

/** Changes something, and writes down who did it and how it ended, also when nobody waits for that any more. */
export async function audited<T>(
  { audit, log }: { readonly audit: AuditLog; readonly log: Logger },
  context: Context,
  { action, pipeline, by, about }: Audited,
  run: (by: string) => Promise<T>,
): Promise<T> {
  const from = addressOf(context);
  const who = by ?? `somebody at ${from}`.slice(0, LONGEST_BY);
  const entry = { at: new Date().toISOString(), action, pipeline: pipeline.name, by: who, from, about };
  const lines = loggerOf(pipeline) ?? log;
  try {
    const result = await run(who);
    audit.add({ ...entry, outcome: 'done' }, lines);
    return result;
  } catch (error) {
    audit.add({ ...entry, outcome: problemOf(error).problem.code }, lines);
    throw error;
  }
}

/** The pipeline's own one has keys as `logKeys` asks. An older copy of the packages, which a config may bring, has none. */
function loggerOf(pipeline: Pipeline): Logger | undefined {
  return (pipeline as Partial<Pipeline>).log;
}
