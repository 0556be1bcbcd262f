import { describeConfigIssues, type Position, type SourceIdentity } from '@strandline/core';
import { z } from 'zod';
import { pipelineName, type BatchHandler, type Handler, type PipelineConfig } from '../config.js';
import { pipelineError } from '../errors.js';
import { normalTime } from './time.js';

/** A place in a pipeline's log. */
export type LogPlace =
  /** A bookmark of the pipeline, by its name. */
  | { readonly bookmark: string }
  /** A position as events have it, and the log that it belongs to; default: the log as it is now. */
  | { readonly position: Position; readonly identity?: SourceIdentity | undefined }
  /** Before the first transaction that committed at this time or later: ISO 8601 with its zone, by the server's clock. */
  | { readonly time: string };

/** Which events are meant. */
export interface EventFilter {
  readonly key?: string | undefined;
  readonly type?: string | undefined;
}

export interface ReplayOptions extends EventFilter {
  /** Events after this place, or from the oldest that the log has. */
  readonly from: LogPlace | 'earliest';
  /** Events up to this place, inclusive. `now` (default): up to the end that the log has when the replay is new. */
  readonly to?: LogPlace | 'now';
  /** One of the pipeline's `handlers` by its name, or a function. Default: the pipeline's own. */
  readonly handler?: string | Handler | BatchHandler;
  /**
   * The replay's name: 1 to 50 of a-z, 0-9, - and _. Its offset has it, and so has `ctx.pipeline`. Default: the
   * pipeline's with `-replay`.
   */
  readonly as?: string;
  /** Begins anew where a replay of that name was interrupted. */
  readonly restart?: boolean;
  /** Only counts: no handler is called, and nothing is saved. */
  readonly dryRun?: boolean;
}

/** Validated. */
export interface ReplayRequest {
  readonly name: string;
  readonly from: LogPlace | 'earliest';
  readonly to: LogPlace | 'now';
  readonly filter: EventFilter;
  readonly handle: Handler | BatchHandler;
  /** By which the handler was chosen; empty for the pipeline's own, and for a function. */
  readonly handlerName: string;
  readonly restart: boolean;
  readonly dryRun: boolean;
}

const text = z.string().min(1, 'must not be empty');

const place = z.union(
  [
    z.strictObject({ bookmark: text }),
    z.strictObject({ position: text, identity: z.record(z.string(), z.string()).optional() }),
    z.strictObject({
      time: z.string().transform((time, ctx) => {
        const normal = normalTime(time);
        if (normal !== null) return normal;
        ctx.addIssue('must be a time with its zone, such as 2026-01-31T12:00:00Z');
        return z.NEVER;
      }),
    }),
  ],
  'must be { bookmark }, { position } or { time }, the time with its zone, such as 2026-01-31T12:00:00Z',
);

/** Where a reading begins or ends. */
export const startSchema = z.union([z.literal('earliest'), place]);
export const endSchema = z.union([z.literal('now'), place]);
export const filterSchema = { key: z.string().optional(), type: z.string().optional() };

const schema = z.strictObject({
  ...filterSchema,
  from: startSchema,
  to: endSchema.default('now'),
  handler: z
    .union(
      [z.string(), z.custom<Handler>((value) => typeof value === 'function')],
      'must be a name or a function',
    )
    .optional(),
  as: pipelineName.optional(),
  restart: z.boolean().default(false),
  dryRun: z.boolean().default(false),
});

/** Throws `REPLAY_CONFIG` with field, value and rule. */
export function parseReplayOptions(options: ReplayOptions, config: PipelineConfig): ReplayRequest {
  const result = schema.safeParse(options);
  if (!result.success) {
    throw pipelineError(
      'REPLAY_CONFIG',
      describeConfigIssues('replay', options, result.error.issues),
      'Correct what the replay was asked for.',
    );
  }
  const { key, type, handler, as, ...rest } = result.data;
  return {
    ...rest,
    filter: { key, type },
    name: replayName(config.name, as),
    handle: handlerFor(config, handler),
    handlerName: typeof handler === 'string' ? handler : '',
  };
}

function replayName(pipeline: string, as: string | undefined): string {
  const name = as ?? `${pipeline}-replay`;
  if (name === pipeline) {
    throw pipelineError(
      'REPLAY_CONFIG',
      `A replay can't be named ${name}: that is the pipeline's own name, and its offset.`,
      'Give it another one.',
    );
  }
  if (pipelineName.safeParse(name).success) return name;
  throw pipelineError(
    'REPLAY_CONFIG',
    `The replay would be named ${name}, which is longer than 50 characters.`,
    'Give it a name with as (--as).',
  );
}

function handlerFor(
  { handle, handlers }: PipelineConfig,
  chosen: string | Handler | undefined,
): Handler | BatchHandler {
  if (chosen === undefined) return handle;
  if (typeof chosen === 'function') return chosen;
  const handler = Object.hasOwn(handlers, chosen) ? handlers[chosen] : undefined;
  if (handler !== undefined) return handler.bind(handlers);
  const names = Object.keys(handlers);
  throw pipelineError(
    'REPLAY_CONFIG',
    `The pipeline has no handler by the name ${JSON.stringify(chosen)}.`,
    names.length === 0
      ? 'Add it to the handlers of definePipeline({ … }).'
      : `It has ${names.join(', ')}: its handlers in definePipeline({ … }).`,
  );
}
