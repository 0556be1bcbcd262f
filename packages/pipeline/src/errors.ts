import { PermanentError, StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type PipelineErrorCode =
  | 'PIPELINE_CONFIG'
  /** `start()` on a pipeline that was started or stopped before, or asking for dead letters after `stop()`. */
  | 'PIPELINE_STATE'
  /** The offset can't be changed while the pipeline runs somewhere. */
  | 'PIPELINE_RUNNING'
  /** There is no offset, or none that was replaced. */
  | 'PIPELINE_NO_OFFSET'
  /** The offset was changed by somebody else between looking and doing. */
  | 'PIPELINE_OFFSET_MOVED'
  /** A position that the log no longer reaches, or not yet. */
  | 'PIPELINE_POSITION'
  /** A text that is no exported offset of this pipeline. */
  | 'PIPELINE_IMPORT'
  /** The key has no events here, or the event that is meant is not here (any more). */
  | 'PIPELINE_KEY_UNKNOWN'
  /** What the key is doing does not allow it. */
  | 'PIPELINE_KEY_STATE'
  /** The key's handler runs, and has not ended in time: nothing was changed. */
  | 'PIPELINE_KEY_BUSY'
  /** Another process works on the pipeline, or none does: live keys are there. */
  | 'PIPELINE_NOT_OWNER'
  /** Without `deadLetters` there is no place for what is parked or skipped. */
  | 'PIPELINE_NO_LETTERS'
  /** The dead-letter table has no room, or does not take the event. */
  | 'PIPELINE_LETTERS_FULL'
  /** A key, a name or a note is too long, or too many keys are held; or wrong options of a look. */
  | 'PIPELINE_CONTROL'
  /** Others have changed the controls again and again meanwhile. */
  | 'PIPELINE_CONTROLS_MOVED'
  /** A bookmark's name can't be, or is in use. */
  | 'PIPELINE_BOOKMARK'
  /** Asked of a batch what only an event has. */
  | 'PIPELINE_BATCH'
  /** The reason of a signal: the handler takes longer than `handlerTimeout`. */
  | 'HANDLER_TIMEOUT'
  /** The process ended while the handler of this event ran, again and again. */
  | 'HANDLER_CRASH'
  /** Wrong options of a replay or a tail. */
  | 'REPLAY_CONFIG'
  /** There is no bookmark by that name. */
  | 'REPLAY_BOOKMARK'
  /** The end of a replay lies before its start, or ahead of the log. */
  | 'REPLAY_RANGE'
  /** An interrupted replay of that name is about something else. */
  | 'REPLAY_UNFINISHED'
  /** The offset by that name is a pipeline's, not a replay's. */
  | 'REPLAY_NAME'
  /** A replay of that name runs already, or another process has gone on with it. */
  | 'REPLAY_TAKEN'
  /** `onReplayStart` has failed: nothing was replayed. */
  | 'REPLAY_HOOK'
  /** A handler failed for good: the replay has stopped there. */
  | 'REPLAY_FAILED';

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
