import { describeConfigIssues, type Logger, type OutboxEvent } from '@strandline/core';
import { z } from 'zod';
import type { PipelineConfig } from '../config.js';
import { pipelineError } from '../errors.js';
import { LogPart } from './log-part.js';
import { filterSchema, startSchema, type EventFilter, type LogPlace } from './options.js';
import { findPlace, startOf } from './places.js';

export interface TailOptions extends EventFilter {
  /** Events after this place. `now` (default): what commits from now on. */
  readonly from?: LogPlace | 'earliest' | 'now';
  /** Ends it. */
  readonly signal?: AbortSignal;
}

const schema = z.strictObject({
  ...filterSchema,
  from: z.union([z.literal('now'), startSchema]).default('now'),
  signal: z.instanceof(AbortSignal).optional(),
});

/**
 * Events in commit order, as they come, beside whoever owns the log: nothing is claimed or saved. It has no end but the
 * signal's. Throws `REPLAY_CONFIG`, `REPLAY_BOOKMARK`, and what the source throws.
 */
export async function* tail(
  options: TailOptions,
  config: PipelineConfig,
  closing: AbortSignal,
  log: Logger,
): AsyncGenerator<OutboxEvent> {
  const { from, key, type, signal: given } = parse(options);
  const signal = given === undefined ? closing : AbortSignal.any([closing, given]);
  const isOver = (): boolean => signal.aborted;
  if (isOver()) return;
  const opening = { pipeline: config.name, signal, log };
  const place = typeof from === 'string' ? from : await findPlace(from, config);
  const start = startOf(place, await config.source.inspect(opening));
  const reader = await config.source.reader({ ...opening, from: start });
  const close = (): void => {
    void reader.close();
  };
  signal.addEventListener('abort', close, { once: true });
  if (isOver()) close();
  try {
    for await (const { events } of new LogPart(reader, { key, type }, null).read()) yield* events;
  } catch (error) {
    if (!isOver()) throw error;
  } finally {
    signal.removeEventListener('abort', close);
    await reader.close();
  }
}

function parse(options: TailOptions): z.output<typeof schema> {
  const result = schema.safeParse(options);
  if (result.success) return result.data;
  throw pipelineError(
    'REPLAY_CONFIG',
    describeConfigIssues('tail', options, result.error.issues),
    'Correct what was asked for.',
  );
}
