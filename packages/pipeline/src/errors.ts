import { PermanentError, StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type PipelineErrorCode =
  | 'PIPELINE_CONFIG'
  /** `start()` on a pipeline that was started or stopped before, or asking for dead letters after `stop()`. */
  | 'PIPELINE_STATE'
  /** Asked of a batch what only an event has. */
  | 'PIPELINE_BATCH'
  /** The reason of a signal: the handler takes longer than `handlerTimeout`. */
  | 'HANDLER_TIMEOUT'
  /** The process ended while the handler of this event ran, again and again. */
  | 'HANDLER_CRASH';

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

/** The reason with which `ctx.signal` aborts after `handlerTimeout`. */
export class HandlerTimeoutError extends StrandlineError<'HANDLER_TIMEOUT'> {
  override readonly name = 'HandlerTimeoutError';
  constructor(milliseconds: number) {
    super(
      'HANDLER_TIMEOUT',
      `The handler has not ended within ${String(milliseconds)} ms.`,
      'Pass ctx.signal on to what it waits for. Its key waits until it has ended.',
    );
  }
}

/** Why an event is parked whose handler ends the process. */
export class HandlerCrashError extends PermanentError {
  readonly code = 'HANDLER_CRASH';
  constructor(times: number) {
    super(
      `The process has ended ${String(times)} times in a row at the same place of the log, the last time while this event ran alone.`,
    );
  }
}
