import type { LogReaderRequest } from './log-reader.js';
import type { Offset } from './offset.js';

/** What a source needs to know to look at its server. */
export interface DiagnosisRequest extends Pick<LogReaderRequest, 'pipeline' | 'signal' | 'log'> {
  /** As it is saved; null when there is none, or it can't be asked. */
  readonly offset: Offset | null;
  /**
   * For how long something of the log has been waiting to be settled, in seconds: since the oldest such event committed,
   * or since the offset was saved when nothing runs. Null while it isn't known.
   */
  readonly lag: number | null;
}
