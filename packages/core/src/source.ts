import type { OutboxEvent } from './event.js';
import type { Logger } from './logger.js';
import type { LogReader, LogReaderRequest, LogState } from './log-reader.js';
import type { Offset, OffsetSeed, SourceIdentity } from './offset.js';
import type { Position } from './position.js';

/** What a source hands over at once: some events in commit order, and how far the log was read with them. */
export interface SourceBatch {
  readonly events: readonly OutboxEvent[];
  /**
   * Everything in the log up to here has been handed over, this batch's events included; null inside a
   * transaction. It moves the watermark past transactions and idle stretches that hold no event.
   */
  readonly passed: Position | null;
}

/** What a source needs from the pipeline to open. */
export interface OpenRequest {
  readonly pipeline: string;
  /** The saved offset, to know from where to acquire the log. */
  load(): Promise<Offset | null>;
  /**
   * Takes the next epoch. Called once the source owns the log and before it reads from it; what it returns,
   * not what `load` returned, is where reading starts. A first run passes where it starts as the seed.
   */
  claim(seed: OffsetSeed): Promise<Offset>;
  /** Called when the log is owned by another process, with what is known of the owner. */
  standby(owner: string): void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** What a source says of itself, for status and logs. */
export interface SourceStatus {
  /** `reconnecting`: the log is out of reach and tried again; `paused`: backpressure holds it back. */
  readonly state: 'streaming' | 'snapshot' | 'paused' | 'reconnecting' | 'closed';
  /** Bytes of log between the end of the server's log, as last heard, and what was handed over. */
  readonly lagBytes: number | null;
  readonly reconnects: number;
}

/** An owned, open log. */
export interface SourceStream {
  /** The claimed offset: reading resumes here. */
  readonly offset: Offset;
  /** What the log is now: a failover under way may have changed its timeline since the claim. */
  readonly identity: SourceIdentity;
  /**
   * Batches in commit order, once. Connection losses are healed inside; it throws a StrandlineError for what
   * can't be healed, and `OwnershipLostError` when another process has taken over. The source reads on while
   * the consumer works on a batch, within its own limit, and then pauses the log.
   */
  read(): AsyncIterable<SourceBatch>;
  /**
   * Aborts, with an `OwnershipLostError` as its reason, as soon as the source knows that another process may own the
   * log: at once, also while nobody asks `read` for a batch. `read` throws the same. Closing the stream is no loss.
   */
  readonly lost: AbortSignal;
  /** Orders two positions of this log: negative, zero or positive. */
  compare(a: Position, b: Position): number;
  /** Everything up to `position` is settled and durably saved: the log may be released up to there. */
  confirm(position: Position): void;
  status(): SourceStatus;
  /** Tells the log the last confirmed position, and releases it. Idempotent; ends `read`. */
  close(): Promise<void>;
}

/** Streams events in commit order from a log. Every implementation passes `test/conformance/source.ts`. */
export interface Source {
  /** A short name for logs, such as `postgres`. */
  readonly name: string;
  /**
   * Checks the server, creates or checks what it needs, waits until this process owns the log, claims the
   * offset and positions the log. Throws a StrandlineError with cause and remedy for what can't come right by
   * itself.
   */
  open(request: OpenRequest): Promise<SourceStream>;
  /** Reads the log beside whoever owns it. Throws a StrandlineError when it no longer reaches back that far. */
  reader(request: LogReaderRequest): Promise<LogReader>;
  /** Where the log stands now, and how far it reaches. */
  inspect(request: Pick<LogReaderRequest, 'pipeline' | 'signal' | 'log'>): Promise<LogState>;
}
