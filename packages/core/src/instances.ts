/** One process of a pipeline, as it says of itself. */
export interface InstanceReport {
  /** Tells the process from all others, of this and other machines. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Of the pipeline: `running` for its owner, `standby` for who waits. */
  readonly state: string;
  /** The ownership that it has or had; null before the first. */
  readonly epoch: number | null;
  /** When it started, and when it said this, ISO 8601 UTC by its own clock. */
  readonly startedAt: string;
  readonly reportedAt: string;
  /** What else it tells of itself, for people and for `strandline status`. Plain JSON of at most 64 KiB. */
  readonly details: unknown;
}

/** The processes of pipelines: what `strandline status` sees of them from outside. */
export interface InstanceRegister {
  /** Says so; it is forgotten after `ttl` milliseconds without another one. */
  report(pipeline: string, report: InstanceReport, ttl: number): Promise<void>;
  /** It has ended in order. */
  leave(pipeline: string, id: string): Promise<void>;
  /** Those that are not forgotten, in no order. */
  list(pipeline: string): Promise<readonly InstanceReport[]>;
}
