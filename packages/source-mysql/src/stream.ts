import {
  OwnershipLostError,
  type Offset,
  type Position,
  type SourceBatch,
  type SourceIdentity,
  type SourceStatus,
  type SourceStream,
} from '@strandline/core';
import { isTransient } from './connect-errors.js';
import type { ConnectedLog } from './connect-log.js';
import type { MysqlIdentity } from './identity.js';
import type { LiveLogOptions } from './live-log-options.js';
import { LogFollower } from './log-follower.js';
import type { LogPlace } from './log-place.js';
import type { Ownership } from './lock.js';
import { PositionOrder } from './position-order.js';
import { parseLogPosition } from './position.js';
import type { SnapshotPhase } from './snapshot-phase.js';
import { streamError } from './stream-errors.js';

export interface StreamParts {
  readonly live: Omit<LiveLogOptions, 'start' | 'layouts'>;
  readonly identity: MysqlIdentity;
  readonly offset: Offset;
  readonly start: LogPlace;
  readonly ownership: Ownership;
  /** What comes before the log: the rest of the start snapshot. */
  readonly snapshot: SnapshotPhase | null;
  /** The log, where nothing comes before it. */
  readonly connected: ConnectedLog | null;
}

/** The events of one owner, from the claimed offset on: of the start snapshot, where there is one, then of the log. */
export class MysqlStream implements SourceStream {
  readonly offset: Offset;
  readonly identity: SourceIdentity;
  readonly #parts: StreamParts;
  readonly #order: PositionOrder;
  readonly #log: LogFollower;
  #inSnapshot: boolean;
  #closed = false;

  constructor(parts: StreamParts) {
    const { live, offset, start, ownership, snapshot, connected } = parts;
    this.#parts = parts;
    this.offset = offset;
    this.identity = parts.identity;
    this.#inSnapshot = snapshot !== null;
    this.#order = new PositionOrder(live.facts.flavour);
    this.#log = new LogFollower({
      live,
      order: this.#order,
      start,
      from: snapshot === null ? parseLogPosition(offset.watermark) : null,
      // What is settled of it is known to the pipeline, which leaves it out.
      after: null,
      watermark: offset.watermark,
      connected,
      check: () => {
        this.lost.throwIfAborted();
      },
      explain: async (error) => {
        // A process that stood still can hear first that the next owner's reader has taken the place of its own.
        await ownership.confirm();
        return streamError(error, offset.watermark);
      },
    });
    this.lost.addEventListener('abort', () => {
      this.#log.wake();
      // Whoever waits for rows must not wait for them any longer.
      snapshot?.close();
    });
  }

  get lost(): AbortSignal {
    return this.#parts.ownership.lost;
  }

  /** The lock goes with its connection, and a process that stood still has not read that connection yet. */
  async proveOwnership(): Promise<void> {
    await this.#parts.ownership.confirm().catch(() => new Promise<never>(() => undefined));
  }

  async *read(): AsyncGenerator<SourceBatch> {
    if (this.#parts.snapshot !== null) yield* this.#readSnapshot(this.#parts.snapshot.read());
    yield* this.#log.read();
  }

  compare(a: Position, b: Position): number {
    return this.#order.compare(a, b, (x, y) => this.#parts.snapshot?.compare(x, y) ?? 0);
  }

  /** The server keeps its binlog by age and size: there is nothing to release. */
  confirm(): void {
    // Nothing.
  }

  status(): SourceStatus {
    return { state: this.#state(), lagBytes: null, reconnects: this.#log.reconnects };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#log.close();
    this.#parts.snapshot?.close();
    this.#parts.ownership.release();
    return Promise.resolve();
  }

  async *#readSnapshot(rows: AsyncGenerator<SourceBatch>): AsyncGenerator<SourceBatch> {
    try {
      for await (const batch of rows) {
        this.lost.throwIfAborted();
        yield batch;
        if (this.#closed) return;
      }
    } catch (error) {
      if (this.#closed) return;
      this.lost.throwIfAborted();
      if (!isTransient(error)) throw streamError(error, this.offset.watermark);
      // The snapshot went with its session; another one is opened behind what is saved, by whoever owns the pipeline.
      throw new OwnershipLostError('The session that reads the start snapshot has ended.', { cause: error });
    }
    this.#inSnapshot = false;
  }

  #state(): SourceStatus['state'] {
    if (this.#closed) return 'closed';
    if (this.#log.reconnecting) return 'reconnecting';
    if (this.#inSnapshot) return 'snapshot';
    return this.#log.paused ? 'paused' : 'streaming';
  }
}
