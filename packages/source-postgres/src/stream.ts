import { setTimeout as sleep } from 'node:timers/promises';
import {
  OwnershipLostError,
  type Logger,
  type Offset,
  type Position,
  type SourceBatch,
  type SourceIdentity,
  type SourceStatus,
  type SourceStream,
} from '@strandline/core';
import { isTransient } from './connect-errors.js';
import { endClient } from './connection.js';
import type { ResumePoint } from './decoder.js';
import { checkHistory, isSamePublication, publicationChanged } from './identity.js';
import { LiveLog } from './live-log.js';
import type { PostgresPending } from './pending.js';
import { compareLog, logPosition, parsePosition } from './position.js';
import { openSession, type Session, type SessionRequest } from './session.js';
import { slotMissing } from './slot.js';
import { findForeignHolder, isSlotInUse } from './slot-owner.js';
import type { SnapshotPhase } from './snapshot-phase.js';
import { streamError } from './stream-errors.js';

export interface StreamParts {
  readonly request: SessionRequest;
  readonly pipeline: string;
  readonly offset: Offset;
  readonly pending: PostgresPending;
  readonly live: LiveLog;
  readonly snapshot: SnapshotPhase | null;
  readonly log: Logger;
}

/**
 * The events of one owner of the slot, from the claimed offset on: first the rest of the start snapshot, if
 * there is any, then the log. Connections come and go below it; what was decoded before one broke is kept,
 * and the next resumes after it.
 */
export class PostgresStream implements SourceStream {
  readonly offset: Offset;
  readonly #parts: StreamParts;
  readonly #closing = new AbortController();
  readonly #loss = new AbortController();
  #live: LiveLog;
  #snapshot: SnapshotPhase | null;
  #reconnecting = false;
  #reconnects = 0;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.offset = parts.offset;
    this.#live = parts.live;
    this.#snapshot = parts.snapshot;
  }

  async *read(): AsyncGenerator<SourceBatch> {
    while (!this.#isClosed()) {
      try {
        if (this.#snapshot !== null) yield* this.#readSnapshot(this.#snapshot);
        yield* this.#readLog();
      } catch (error) {
        if (this.#isClosed()) return;
        await this.#recover(error);
      }
    }
  }

  compare(a: Position, b: Position): number {
    const left = parsePosition(a);
    const right = parsePosition(b);
    if (left.kind === 'log' && right.kind === 'log') return compareLog(left, right);
    if (left.kind !== right.kind) return left.kind === 'snapshot' ? -1 : 1;
    return this.#parts.snapshot?.compare(a, b) ?? 0;
  }

  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  get identity(): SourceIdentity {
    return { ...this.offset.identity, timeline: this.#live.session.identity.timeline };
  }

  confirm(position: Position): void {
    const parsed = parsePosition(position);
    // While the snapshot lasts nothing of the log may go.
    if (parsed.kind === 'log') this.#live.confirm(parsed.lsn);
  }

  status(): SourceStatus {
    return { state: this.#state(), lagBytes: this.#live.lagBytes, reconnects: this.#reconnects };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#parts.pending.wake();
    await this.#live.close();
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #state(): SourceStatus['state'] {
    if (this.#isClosed()) return 'closed';
    if (this.#reconnecting) return 'reconnecting';
    if (this.#snapshot !== null) return 'snapshot';
    return this.#live.paused ? 'paused' : 'streaming';
  }

  async *#readSnapshot(snapshot: SnapshotPhase): AsyncGenerator<SourceBatch> {
    // The log is heard from the beginning, up to what may wait: a session that isn't read can't be seen to be dead,
    // and a statement that sorts the whole table has no deadline of its own.
    this.#live.resume();
    for await (const batch of snapshot.read()) {
      yield batch;
      // The replication session is what owns the slot: without it somebody else may be reading.
      if (this.#live.failure !== null) throw this.#live.failure.error;
      if (this.#isClosed()) return;
    }
    this.#snapshot = null;
  }

  async *#readLog(): AsyncGenerator<SourceBatch> {
    const { pending, request } = this.#parts;
    const gated = request.config.visibility === 'committed';
    this.#live.resume();
    while (!this.#isClosed()) {
      const { gate } = this.#live;
      const batch = pending.take(gated ? gate.isVisible : always);
      if (batch !== null) {
        if (pending.roomy) this.#live.resume();
        yield batch;
        continue;
      }
      const waiting = pending.first;
      if (waiting !== null) await gate.untilVisible(waiting, this.#closing.signal);
      // What was decoded before a failure is handed over first: the failure counts when nothing is left.
      else if (this.#live.failure !== null) throw this.#live.failure.error;
      else await pending.arrival();
    }
  }

  /** Connects again, for as long as it takes; throws for what can't come right by itself. */
  async #recover(failure: unknown): Promise<void> {
    const { request, log } = this.#parts;
    const { initialDelay, maxDelay } = request.config.reconnect;
    let error = failure;
    this.#reconnecting = true;
    await this.#live.close();
    for (let attempt = 0; ; attempt += 1) {
      if (error instanceof OwnershipLostError) this.#loss.abort(error);
      if (!isTransient(error)) throw streamError(error, request.slot, request.publication);
      const delay = Math.min(maxDelay, initialDelay * 2 ** attempt) * (0.5 + Math.random() / 2);
      log.warn(
        { reason: error instanceof Error ? error.message : String(error), delay: Math.round(delay) },
        'lost the connection to Postgres: connecting again',
      );
      try {
        await sleep(delay, undefined, { signal: this.#closing.signal });
        const before = this.#live;
        this.#live = await this.#reconnect();
        // Something may have been confirmed while it was connecting.
        this.#live.confirm(before.confirmed);
        break;
      } catch (next) {
        if (this.#isClosed()) return;
        error = next;
      }
    }
    this.#reconnecting = false;
    this.#reconnects += 1;
    if (this.#isClosed()) await this.#live.close();
    else log.info({ reconnects: this.#reconnects }, 'connected to Postgres again');
  }

  async #reconnect(): Promise<LiveLog> {
    const { request, pending } = this.#parts;
    const session = await openSession(request, this.offset);
    try {
      const resume = this.#live.resumePoint;
      await this.#checkSame(session, resume);
      await this.#snapshot?.prepare(session, null);
      return await LiveLog.start(session, {
        request,
        resume,
        confirmed: this.#live.confirmed,
        pending,
      });
    } catch (error) {
      await endClient(session.sql);
      if (isSlotInUse(error)) await this.#throwIfTakenOver();
      throw error;
    }
  }

  /** Is this still the log that was read before, with everything in it that was not read yet? */
  async #checkSame({ identity, server, slot, sql }: Session, resume: ResumePoint): Promise<void> {
    const { request, pipeline } = this.#parts;
    const before = this.#live.session;
    const position = logPosition(resume.lsn, resume.ordinal);
    if (!isSamePublication(before.identity, identity)) throw publicationChanged(request.slot, position);
    if (server.timeline !== before.server.timeline) {
      await checkHistory(request.connector, server, before.server.timeline, position, resume.lsn);
    }
    if (slot === null) throw slotMissing(request.slot, ' any more');
    // Not by us: an owner came and read on. Whether it was one is seen when the offset is loaded again.
    if (slot.confirmed > resume.lsn) throw takenOver('another process');
    const holder = await findForeignHolder(sql, request.slot, request.connector, pipeline);
    if (holder !== null) throw takenOver(holder);
  }

  async #throwIfTakenOver(): Promise<void> {
    const { request, pipeline } = this.#parts;
    const sql = await request.connector.sql();
    try {
      const holder = await findForeignHolder(sql, request.slot, request.connector, pipeline);
      if (holder !== null) throw takenOver(holder);
    } finally {
      await endClient(sql);
    }
  }
}

const always = (): boolean => true;

function takenOver(holder: string): OwnershipLostError {
  return new OwnershipLostError(`While the connection was down, ${holder} took the replication slot over.`);
}
