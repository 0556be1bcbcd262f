/** What one check of a server has found, for `strandline doctor`. */
export interface Finding {
  /** Names the check, for scripts: `redis-eviction`. It does not change. */
  readonly check: string;
  /**
   * `fail`: events, or the place where the pipeline stands, are lost or can be at any time. `warn`: they can be when
   * something else happens, too, or it could not be asked.
   */
  readonly result: 'pass' | 'warn' | 'fail';
  /** What is set, or how things stand. */
  readonly found: string;
  /** What depends on it. */
  readonly why: string;
  /** What to run or to set, ready to copy; null for a `pass`. */
  readonly remedy: string | null;
}
