import type { z } from '@hono/zod-openapi';
import type { InstanceDetails } from '@strandline/pipeline';
import type { pipelineDetailsSchema } from './pipelines.js';
import type { problemSchema } from './problem.js';
import type {
  auditSchema,
  bookmarkSchema,
  findingSchema,
  keySchema,
  letterCountsSchema,
  letterSchema,
  offsetSchema,
  payloadSchema,
  pipelineSchema,
  replaySchema,
  strandListSchema,
  strandSchema,
} from './schemas.js';

/** What the API answers, as types for who asks it in TypeScript. */
type Looked<T> = Omit<T, 'look'> & { readonly look: InstanceDetails };

export type PipelineAnswer = Looked<z.infer<typeof pipelineSchema>>;
export type PipelineDetailsAnswer = Looked<z.infer<typeof pipelineDetailsSchema>>;
export type StrandAnswer = z.infer<typeof strandSchema>;
export type StrandListAnswer = z.infer<typeof strandListSchema>;
export type KeyAnswer = z.infer<typeof keySchema>;
export type PayloadAnswer = z.infer<typeof payloadSchema>;
export type LetterAnswer = z.infer<typeof letterSchema>;
export type LetterCountsAnswer = z.infer<typeof letterCountsSchema>;
export type BookmarkAnswer = z.infer<typeof bookmarkSchema>;
export type ReplayAnswer = z.infer<typeof replaySchema>;
export type FindingAnswer = z.infer<typeof findingSchema>;
export type OffsetAnswer = z.infer<typeof offsetSchema>;
export type AuditAnswer = z.infer<typeof auditSchema>;
export type ProblemAnswer = z.infer<typeof problemSchema>;
