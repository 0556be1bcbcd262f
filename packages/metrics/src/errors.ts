import { StrandlineError } from '@strandline/core';

/** Every code that this package raises. */
export type MetricsErrorCode =
  /** Wrong options. */
  'METRICS_CONFIG';

export class MetricsError extends StrandlineError<MetricsErrorCode> {
  override readonly name = 'MetricsError';
}
