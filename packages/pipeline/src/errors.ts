import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type PipelineErrorCode =
  | 'PIPELINE_CONFIG'
  /** `start()` on a pipeline that was started or stopped before. */
  | 'PIPELINE_STATE';

export class PipelineError extends StrandlineError<PipelineErrorCode> {
  override readonly name = 'PipelineError';
}

export function pipelineError(
  code: PipelineErrorCode,
  problem: string,
  remedy: string,
  details?: ErrorDetails,
): PipelineError {
  return new PipelineError(code, problem, remedy, details);
}
