import {
  type DeadLetterStore,
  describeConfigIssues,
  type HandlerContext,
  type HandlerParts,
  type LetterLimits,
  type Logger,
  type OffsetStore,
  type OutboxEvent,
  type Position,
  type RetryPolicy,
  type Source,
} from '@strandline/core';
import { z } from 'zod';
import { pipelineError } from './errors.js';
import type { LogKeys } from './log-keys.js';
import { pruneSchema, type PruneConfig, type PruneOptions } from './prune/options.js';

/** Handles one event. A returned promise is awaited; a throw or a rejection is retried by the policy. */
export type Handler = (event: OutboxEvent, ctx: HandlerContext) => unknown;

/** Handles the next consecutive events of one key; a failure is retried with the same events. */
export type BatchHandler = (events: readonly OutboxEvent[], ctx: HandlerContext) => unknown;

export type FailurePolicy = 'park' | 'halt' | 'skip';

export interface ParkingOptions {
  /** Letters of one key (default 100,000), and of all (default 1,000,000); at the limit the key halts. */
  readonly limits: LetterLimits;
  /** Milliseconds between looks for keys that somebody released. Default 1,000. */
  readonly poll: number;
  /** Parked keys are tried again by themselves after so long, doubling up to `maxDelay`. Default: never. */
  readonly schedule: { readonly initialDelay: number; readonly maxDelay: number } | null;
  /** Released keys that are worked off at once, beside `concurrency`. Default 4. */
  readonly concurrency: number;
}

/** What `onReplayStart` is told. */
export interface ReplayStart {
  /** The replay's name. */
  readonly replay: string;
  /** Events after this position are going to be replayed, … */
  readonly from: Position;
  /** … up to this one, inclusive. */
  readonly to: Position;
  /** Aborts when the replay is stopped meanwhile. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

interface CommonOptions {
  /**
   * Names the offset, and by default slot and publication: 1 to 50 of a-z, 0-9, - and _. It must not change
   * between runs.
   */
  readonly name: string;
  readonly source: Source;
  readonly offsets: OffsetStore;
  /** How many keys run at once. Default 32. */
  readonly concurrency?: number;
  /**
   * Default: 10 attempts, from 100 ms up to 30 s, doubling, full jitter, for every error but a `PermanentError`.
   */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * What becomes of an event that no retry could help. `park` (default with `deadLetters`): it and the later events
   * of its key go to the dead-letter table, in order, until somebody releases the key. `skip`: it alone goes there.
   * `halt` (default without): its key stands still and holds the log, until `control.retry` or a restart.
   */
  readonly onFailure?: FailurePolicy;
  /** Where parked and skipped events are kept, such as `deadLetters({ postgres: { url } })`. */
  readonly deadLetters?: DeadLetterStore;
  /** Limits of the dead-letter table, and when parked keys are tried again by themselves. */
  readonly parking?: Partial<ParkingOptions>;
  /**
   * Milliseconds after which `ctx.signal` of a handler aborts. Its key waits until the handler has really ended, and
   * is in `status().stuckKeys` meanwhile; other keys go on. Default: none.
   */
  readonly handlerTimeout?: number;
  /** How many events of one key the window may hold. Default: as many as it holds in all. */
  readonly maxPerKey?: number;
  /**
   * What follows when a key has so many: `pause` (default) reads no more of the log until it has fewer, `park` has
   * the rest stored in the dead-letter table and handled from there, in order, and the other keys don't notice.
   */
  readonly overflow?: 'pause' | 'park';
  /**
   * How much may be admitted and not settled: events (default 10,000) and their bytes (default 64 MiB). When it
   * is full the log is paused; `status().paused` says so.
   */
  readonly window?: { readonly events?: number; readonly bytes?: number };
  /** Milliseconds between commits of the offset, default 100: what a crash may deliver again. */
  readonly commitInterval?: number;
  /** Milliseconds that handlers in flight get to end when the pipeline stops, default 30,000; then `ctx.signal` aborts. */
  readonly drainTimeout?: number;
  /**
   * Awaited before the first event of a new replay is handled, so that a projection can empty itself; not when a replay
   * that was interrupted goes on. Called again when the process ends before anything of the replay was saved. When it
   * throws, the replay does not start.
   */
  onReplayStart?(start: ReplayStart): unknown;
  /** Deletes rows of the outbox that every pipeline on it has settled. Default: none are deleted. */
  readonly prune?: PruneOptions;
  /** A pino logger, or anything with its methods. Default: pino to stderr, its level from LOG_LEVEL or info. */
  readonly log?: Logger;
  /**
   * How keys come into log lines, those of `ctx.log` among them: `plain` (default), `hashed`, `{ secret }` (hashed with a
   * secret of yours, which keys that can be guessed need), or `none`. Texts of errors are searched for the key that they
   * are about.
   */
  readonly logKeys?: LogKeys;
}

export interface PipelineOptions extends CommonOptions {
  readonly batch?: undefined;
  /** Further handlers, by the names by which a replay chooses one. */
  readonly handlers?: Readonly<Record<string, Handler>>;
  handle(event: OutboxEvent, ctx: HandlerContext): unknown;
}

export interface BatchPipelineOptions extends CommonOptions {
  /** Hands over up to `max` consecutive events of one key at a time. */
  readonly batch: { readonly max: number };
  /** Further handlers, by the names by which a replay chooses one. */
  readonly handlers?: Readonly<Record<string, BatchHandler>>;
  handle(events: readonly OutboxEvent[], ctx: HandlerContext): unknown;
}

/** Validated, with every default filled in. */
export interface PipelineConfig {
  readonly name: string;
  readonly source: Source;
  readonly offsets: OffsetStore;
  readonly concurrency: number;
  readonly retry: RetryPolicy;
  readonly onFailure: FailurePolicy;
  readonly deadLetters: DeadLetterStore | undefined;
  readonly parking: ParkingOptions;
  /** Infinity for none. */
  readonly handlerTimeout: number;
  readonly maxPerKey: number;
  readonly overflow: 'pause' | 'park';
  readonly window: { readonly events: number; readonly bytes: number };
  readonly commitInterval: number;
  readonly drainTimeout: number;
  readonly log: Logger | undefined;
  readonly logKeys: LogKeys;
  readonly batch: { readonly max: number } | undefined;
  readonly handle: Handler | BatchHandler;
  readonly handlers: Readonly<Record<string, Handler | BatchHandler>>;
  /** What the handlers bring along, each handler once. */
  readonly handlerParts: readonly HandlerParts[];
  readonly onReplayStart: ((start: ReplayStart) => unknown) | undefined;
  readonly prune: PruneConfig | undefined;
}

/** setTimeout takes no more. */
const LONGEST_TIMEOUT = 2_147_483_647;

const milliseconds = z.number().min(0).max(LONGEST_TIMEOUT);
const count = z.number().int().positive();

const DEFAULT_RETRY: RetryPolicy = Object.freeze({
  attempts: 10,
  maxElapsed: Infinity,
  initialDelay: 100,
  maxDelay: 30_000,
  factor: 2,
  jitter: 'full',
});

const retrySchema = z.strictObject({
  // z.number() refuses Infinity, which is the way to say "for ever" here.
  attempts: z.union([count, z.literal(Infinity)]).default(DEFAULT_RETRY.attempts),
  maxElapsed: z.union([milliseconds, z.literal(Infinity)]).default(DEFAULT_RETRY.maxElapsed),
  initialDelay: milliseconds.default(DEFAULT_RETRY.initialDelay),
  maxDelay: milliseconds.default(DEFAULT_RETRY.maxDelay),
  factor: z.number().min(1).max(100).default(DEFAULT_RETRY.factor),
  jitter: z.enum(['full', 'none']).default(DEFAULT_RETRY.jitter),
  retryable: z
    .custom<(error: unknown) => boolean>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});

const DEFAULT_PARKING: ParkingOptions = Object.freeze({
  limits: { perKey: 100_000, inAll: 1_000_000 },
  poll: 1_000,
  schedule: null,
  concurrency: 4,
});

const parkingSchema = z.strictObject({
  limits: z.strictObject({ perKey: count, inAll: count }).default(DEFAULT_PARKING.limits),
  poll: milliseconds.min(10).default(DEFAULT_PARKING.poll),
  schedule: z
    .strictObject({ initialDelay: milliseconds.min(1), maxDelay: milliseconds.min(1) })
    .nullable()
    .default(DEFAULT_PARKING.schedule),
  concurrency: count.max(1_000).default(DEFAULT_PARKING.concurrency),
});

/** Of a pipeline, or of a replay: both name an offset. */
export const pipelineName = z
  .string('must name the pipeline')
  .regex(/^[a-z0-9][a-z0-9_-]{0,49}$/, 'must be 1 to 50 of a-z, 0-9, - and _');

const functionOf = z.custom<Handler>((value) => typeof value === 'function', 'must be a function');

const DEFAULT_WINDOW = { events: 10_000, bytes: 64 * 1024 * 1024 };

const schema = z
  .strictObject({
    name: pipelineName,
    source: z.custom<Source>(
      (value) => hasMethods(value, ['open']),
      'must be a source, such as postgres({ … })',
    ),
    offsets: z.custom<OffsetStore>(
      (value) => hasMethods(value, ['load', 'claim', 'commit', 'close']),
      'must be an offset store, such as redisOffsets({ … }) or fileOffsets({ … })',
    ),
    concurrency: count.max(100_000).default(32),
    retry: retrySchema.default(DEFAULT_RETRY),
    onFailure: z.enum(['park', 'halt', 'skip']).optional(),
    deadLetters: z
      .custom<DeadLetterStore>(
        (value) => hasMethods(value, ['claim', 'park', 'skip', 'read', 'desk', 'close']),
        'must be a dead-letter store, such as deadLetters({ … })',
      )
      .optional(),
    parking: parkingSchema.default(DEFAULT_PARKING),
    handlerTimeout: z.union([milliseconds.min(1), z.literal(Infinity)]).default(Infinity),
    maxPerKey: z.union([count, z.literal(Infinity)]).default(Infinity),
    overflow: z.enum(['pause', 'park']).default('pause'),
    window: z
      .strictObject({
        events: count.max(10_000_000).default(DEFAULT_WINDOW.events),
        bytes: count.default(DEFAULT_WINDOW.bytes),
      })
      .default(DEFAULT_WINDOW),
    commitInterval: milliseconds.default(100),
    drainTimeout: milliseconds.default(30_000),
    log: z
      .custom<Logger>(
        (value) => hasMethods(value, ['debug', 'info', 'warn', 'error', 'child']),
        'must be a logger such as pino',
      )
      .optional(),
    logKeys: z
      .union([z.enum(['plain', 'hashed', 'none']), z.strictObject({ secret: z.string().min(8) })])
      .default('plain'),
    batch: z.strictObject({ max: count.max(100_000) }).optional(),
    handle: functionOf,
    handlers: z.record(z.string(), functionOf).default({}),
    onReplayStart: functionOf.optional(),
    prune: pruneSchema.optional(),
  })
  .refine(({ prune, source }) => prune === undefined || hasMethods(source, ['pruner']), {
    path: ['prune'],
    error: 'needs a source that can delete rows of its outbox',
  })
  .refine(({ prune, offsets }) => prune === undefined || hasMethods(offsets, ['list']), {
    path: ['prune'],
    error: 'needs an offset store that can list its pipelines',
  })
  .refine((config) => config.deadLetters !== undefined || (config.onFailure ?? 'halt') === 'halt', {
    path: ['onFailure'],
    error: 'needs deadLetters: a place for the events',
  })
  .refine((config) => config.deadLetters !== undefined || config.overflow === 'pause', {
    path: ['overflow'],
    error: 'needs deadLetters: a place for the events',
  });

/** Throws `PIPELINE_CONFIG` with field, value and rule. */
export function parsePipelineOptions(options: PipelineOptions | BatchPipelineOptions): PipelineConfig {
  const result = schema.safeParse(options);
  if (!result.success) {
    throw pipelineError(
      'PIPELINE_CONFIG',
      describeConfigIssues('pipeline', options, result.error.issues),
      'Correct the options of definePipeline({ … }).',
    );
  }
  const { log, batch, deadLetters, prune, ...rest } = result.data;
  const onFailure = rest.onFailure ?? (deadLetters === undefined ? 'halt' : 'park');
  // Called as a method of the user's object: `this` works in it.
  const handle = options.handle.bind(options) as Handler;
  const onReplayStart = options.onReplayStart?.bind(options);
  const handlers: readonly unknown[] = Object.values<unknown>(options.handlers ?? {});
  // They are asked for what they carry, and not called.
  const handlerParts = handlerPartsOf([options.handle, ...handlers]);
  return Object.freeze({
    ...{ ...rest, onFailure, deadLetters, log, batch, handle, handlerParts, onReplayStart },
    prune: prune && Object.freeze(prune),
  });
}

/** Bound functions have lost their properties: so what was given is asked. */
function handlerPartsOf(given: readonly unknown[]): readonly HandlerParts[] {
  return [...new Set(given)].filter(
    (handler): handler is HandlerParts =>
      typeof handler === 'function' && ('diagnose' in handler || 'close' in handler),
  );
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}
