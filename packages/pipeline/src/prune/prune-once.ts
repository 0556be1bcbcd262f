import { describeConfigIssues, type Logger } from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import { pipelineError } from '../errors.js';
import type { PruneFigures } from './figures.js';
import { pruneSchema, type PruneConfig, type PruneOptions } from './options.js';
import { Pruning, type PruneOutcome, type PruneSurvey } from './pruning.js';

/** One round, by hand. What is left out is as in the pipeline's own `prune`. */
export interface PruneRequest extends Partial<PruneOptions> {
  /** Deletes nothing, and counts what it would. */
  readonly dryRun?: boolean;
  /** Milliseconds to wait for who has not settled what is to go, default 10,000. */
  readonly patience?: number;
  readonly signal?: AbortSignal;
}

export interface PruneReport {
  /** `elsewhere`: another pruner of this outbox is at work. */
  readonly outcome: PruneOutcome;
  readonly figures: PruneFigures;
  /** Of a dry run: what would go. */
  readonly survey: PruneSurvey | null;
}

/** An idle outbox's pipelines come to the end of the log within some two seconds. */
const PATIENCE = 10_000;

/** Throws `PIPELINE_CONFIG` for wrong options, and what source and offset store throw. */
export async function pruneOnce(
  { dryRun = false, patience = PATIENCE, signal, ...options }: PruneRequest,
  config: PipelineConfig,
  stopping: AbortSignal,
  log: Logger,
): Promise<PruneReport> {
  const { name, source, offsets } = config;
  const pruning = new Pruning({
    ...{ pipeline: name, source, offsets, log, thorough: true },
    config: merged(config.prune, options),
  });
  const ended = AbortSignal.any([stopping, ...(signal === undefined ? [] : [signal])]);
  if (!dryRun) {
    const outcome = await pruning.round(patience, ended);
    return { outcome, figures: pruning.figures, survey: null };
  }
  const survey = await pruning.survey(patience, ended);
  const { figures } = pruning;
  return { outcome: figures.heldBack.length > 0 ? 'heldBack' : 'done', figures, survey };
}

function merged(configured: PruneConfig | undefined, options: Partial<PruneOptions>): PruneConfig {
  const given = { ...configured, ...options };
  const result = pruneSchema.safeParse(given);
  if (result.success) return result.data;
  throw pipelineError(
    'PIPELINE_CONFIG',
    describeConfigIssues('prune', given, result.error.issues),
    'Say for how long rows are kept: prune: { keep } in definePipeline({ … }), or keep here.',
  );
}
