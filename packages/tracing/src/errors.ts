import { StrandlineError } from '@strandline/core';

/** Every code that this package raises. */
export type TracingErrorCode =
  /** Wrong options. */
  'TRACING_CONFIG';

export class TracingError extends StrandlineError<TracingErrorCode> {
  override readonly name = 'TracingError';
}
