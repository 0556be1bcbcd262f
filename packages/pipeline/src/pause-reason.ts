/** Why the log is not being read on. */
export type PauseReason =
  /** As much is admitted and not settled as the window allows. */
  | 'window'
  /** Enough keys wait for their turn: the handlers are slower than the log. */
  | 'handlers'
  /** A key has as many events here as it may (`maxPerKey`). */
  | 'key'
  /** As much is settled and not saved as the window allows: the offset store is away. */
  | 'offsets'
  /** An operator has paused the pipeline: no handler starts, and the log is read only as far as the window takes. */
  | 'operator';
