import type { DiagnosisRequest } from './diagnosis.js';
import type { Finding } from './finding.js';
import type { Logger } from './logger.js';
import type { LogReader, LogReaderRequest, LogState } from './log-reader.js';
import type { Offset, OffsetSeed } from './offset.js';
import type { OutboxPruner, PrunerRequest } from './outbox-pruner.js';
import type { Position } from './position.js';
import type { SourceBatch } from './source-batch.js';
import type { SourceIdentity } from './source-identity.js';

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

/** What a source keeps of its log beyond what is settled, so that it can be read again. */
export interface RetentionStatus {
  /** Bytes of log that are settled and saved, and kept for nothing else. */
  readonly heldBytes: number;
  /** A limit of bytes, its own or the server's, keeps it from reaching back as far as it is set to. */
  readonly yielded: boolean;
}

/** What a source says of itself, for status and logs. */
export interface SourceStatus {
  /** `reconnecting`: the log is out of reach and tried again; `paused`: backpressure holds it back. */
  readonly state: 'streaming' | 'snapshot' | 'paused' | 'reconnecting' | 'closed';
  /** Bytes of log between the end of the server's log, as last heard, and what was handed over. */
  readonly lagBytes: number | null;
  readonly reconnects: number;
  /** Null, or left out, where nothing is kept on purpose. */
  readonly retention?: RetentionStatus | null;
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
  /**
   * Tells the listener, at once, when the source can't be sure any more that it owns the log (what holds it is down, or
   * silent), and when it is sure again: no handler starts in between. Left out by a source whose losses are certain.
   */
  onDoubt?(listener: (inDoubt: boolean) => void): void;
  /**
   * Resolves once the server has said, asked since the call, that this process owns the log. Stays open while nobody can
   * be asked, and for good when another process owns it: then `lost` aborts, sooner or later. It is asked after this
   * process stood still for a while, before another handler starts. Never rejects.
   */
  proveOwnership?(): Promise<void>;
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
  /** How its server is set up: what could lose the log before it was read. Touches nothing. */
  diagnose?(request: DiagnosisRequest): Promise<readonly Finding[]>;
  /**
   * What it takes to delete settled rows of its outbox; null while another pruner of the same outbox is at work. Throws a
   * StrandlineError when it can't be told which rows are old, or the user may not delete.
   */
  pruner?(request: PrunerRequest): Promise<OutboxPruner | null>;
}
