import { z } from '@hono/zod-openapi';

/**
 * What the API answers, as OpenAPI describes it. Times are ISO 8601 UTC; spans of strands and keys are in milliseconds, those
 * of a look in seconds. What is not known is null. Payloads are in `Payload` alone.
 */
const text = z.string();
const number = z.number();
const time = text.nullable();

const errorSchema = z.object({ name: text, code: text.nullable(), message: text });

/** What the attempts of an event failed with: those in a row that failed with the same error are one entry. */
const historySchema = z
  .array(
    z.object({ first: number, last: number, firstFailedAt: text, lastFailedAt: text, error: errorSchema }),
  )
  .readonly();

export const orderSchema = z.object({ by: text, at: text, note: text }).openapi('Order');
export const heldKeySchema = orderSchema.extend({ key: text }).openapi('HeldKey');

export const healthSchema = z
  .object({
    pipeline: text,
    state: text,
    ready: z.boolean(),
    advancing: z.boolean(),
    reasons: z.array(text),
  })
  .openapi('Health');

/** What this process tells of its pipeline: beside counts, ten of the keys in trouble of each kind. */
export const lookSchema = z.looseObject({
  paused: text.nullable(),
  watermark: text.nullable(),
  watermarkAge: number.nullable(),
  unsettled: number,
  bytes: number,
  strands: number,
  running: number,
  settled: number,
  oldest: z.looseObject({ key: text, id: text, age: number }).nullable(),
});

const quantilesSchema = z.object({ p50: number, p99: number }).nullable();

/** How a pipeline did in one second; latencies and ages in seconds. */
export const sampleSchema = z
  .object({
    at: number.openapi({ description: 'Milliseconds since 1970' }),
    ...{ admitted: number, settled: number, retries: number },
    ...{ unsettled: number, window: number, lagBytes: number.nullable(), oldestAge: number.nullable() },
    ...{ sinceCommit: quantilesSchema, handler: quantilesSchema },
  })
  .openapi('Sample');

export const pipelineSchema = z
  .object({
    name: text,
    source: text,
    offsets: text,
    deadLetters: z.boolean(),
    state: text,
    epoch: number.nullable(),
    savedWatermark: text.nullable(),
    window: z.object({ events: number, bytes: number }),
    look: lookSchema,
    sample: sampleSchema.nullable().openapi({ description: 'The newest of its history' }),
    health: healthSchema,
  })
  .openapi('Pipeline');

export const instanceSchema = z
  .object({
    id: text,
    host: text,
    pid: number,
    state: text,
    epoch: number.nullable(),
    startedAt: text,
    reportedAt: text,
  })
  .openapi('Instance');

export const strandSchema = z
  .object({
    key: text,
    state: text,
    held: z.boolean(),
    depth: number,
    head: z.object({ id: text, type: text.nullable(), position: text, committedAt: text }),
    age: number,
    attempts: number,
    firstFailedAt: time,
    lastFailedAt: time,
    lastError: errorSchema.nullable(),
    history: historySchema,
    nextTryAt: time,
    turn: z.object({ events: number, runningFor: number, stuck: z.boolean() }).nullable(),
    holdsUp: z.object({
      behind: number,
      watermark: z.object({ spans: number, unsettled: number }).nullable(),
    }),
  })
  .openapi('Strand');

export const strandListSchema = z
  .object({ strands: z.array(strandSchema), next: text.nullable(), live: number, looked: number })
  .openapi('StrandList');

export const keySchema = z
  .object({
    key: text,
    owned: z.boolean(),
    strand: strandSchema.nullable(),
    waiting: z.array(
      z.object({ id: text, type: text.nullable(), position: text, committedAt: text, inFlight: z.boolean() }),
    ),
    parked: z.object({ notStored: number, releasing: z.boolean(), full: z.boolean() }).nullable(),
    held: heldKeySchema.nullable(),
    paused: orderSchema.nullable(),
    letters: z
      .array(
        z.object({
          id: text,
          state: text,
          reason: text,
          parkedAt: text,
          event: z.object({ id: text, type: text.nullable(), position: text }),
          attempts: number,
          lastFailedAt: time,
          error: errorSchema.nullable(),
          history: historySchema,
        }),
      )
      .nullable(),
    lettersError: errorSchema.nullable(),
    happenings: z.array(
      z.object({
        at: text,
        what: text,
        position: text.optional(),
        attempt: number.optional(),
        error: errorSchema.optional(),
        by: text.optional(),
        note: text.optional(),
      }),
    ),
  })
  .openapi('Key');

export const payloadSchema = z
  .object({ text: text.nullable(), length: number, cut: z.boolean() })
  .openapi('Payload');

export const letterSchema = z
  .object({
    id: text,
    place: number,
    state: text,
    reason: text,
    parkedAt: text,
    event: z.object({
      id: text,
      key: text,
      type: text.nullable(),
      position: text,
      table: text,
      committedAt: text,
    }),
    failure: z
      .object({
        attempts: number,
        firstFailedAt: text,
        lastFailedAt: text,
        error: errorSchema.extend({ stack: text }),
        history: historySchema,
      })
      .nullable(),
  })
  .openapi('Letter');

export const letterCountsSchema = z
  .object({ keys: number, waiting: number, skipped: number })
  .openapi('LetterCounts');

export const bookmarkSchema = z
  .object({
    name: text,
    position: text,
    committedAt: time,
    createdAt: text,
    bytes: number.nullable(),
    reachable: z.boolean().nullable(),
  })
  .openapi('Bookmark');

export const replaySchema = z
  .object({
    name: text,
    state: text,
    dryRun: z.boolean(),
    from: text,
    to: text,
    position: text,
    events: number,
    skipped: number,
    retries: number,
    progress: number.nullable(),
    rate: number,
    remaining: number.nullable(),
    duration: number,
    error: z.object({ code: text, problem: text, remedy: text }).nullable(),
  })
  .openapi('Replay');

export const findingSchema = z
  .object({
    check: text,
    result: z.enum(['pass', 'warn', 'fail']),
    found: text,
    why: text,
    remedy: text.nullable(),
  })
  .openapi('Finding');

export const offsetSchema = z
  .object({
    watermark: text,
    completed: number,
    epoch: number,
    revision: number,
    savedAt: text,
    log: z
      .object({
        head: text,
        earliest: text.nullable(),
        bytesBehind: number.nullable(),
        reachable: z.boolean().nullable(),
      })
      .nullable(),
  })
  .openapi('Offset');

export const auditSchema = z
  .object({
    at: text,
    action: text,
    pipeline: text,
    by: text,
    from: text,
    about: z.record(z.string(), z.unknown()),
    outcome: text,
  })
  .openapi('AuditEntry');
