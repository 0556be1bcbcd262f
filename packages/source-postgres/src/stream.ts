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
import { endClient } from './connection.js';
import type { ResumePoint } from './decoder.js';
import { checkHistory, isSamePublication, publicationChanged } from './identity.js';
import { liveBatches } from './live-batches.js';
import { LiveLog } from './live-log.js';
import type { Lsn } from './lsn.js';
import type { PostgresPending } from './pending.js';
import { comparePositions, logPosition, parsePosition } from './position.js';
import { connectAgain } from './reconnecting.js';
import type { HeldLog } from './retention/held-log.js';
import { openSession, type Session, type SessionRequest } from './session.js';
import { slotMissing } from './slot.js';
import { findForeignHolder, isSlotInUse } from './slot-owner.js';
import type { SnapshotPhase } from './snapshot-phase.js';
import { streamError } from './stream-errors.js';

export interface StreamParts {
  readonly request: SessionRequest;
  readonly pipeline: string;
  /** The saved offset, to see whether another process has claimed it. */
  readonly load: () => Promise<Offset | null>;
  readonly offset: Offset;
  readonly pending: PostgresPending;
  readonly live: LiveLog;
  readonly snapshot: SnapshotPhase | null;
  /** Null unless settled log is kept. */
  readonly held: HeldLog | null;
  readonly log: Logger;
}

/** Milliseconds between two questions whether the slot is ours. */
const PROOF_AGAIN = 50;

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
  /** The next live log, on its way: begun when the connection broke, whether somebody asks for events or not. */
  #recovery: Promise<void> | null = null;
  #doubt: (inDoubt: boolean) => void = () => undefined;
  #snapshot: SnapshotPhase | null;
  #reconnecting = false;
  #reconnects = 0;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.offset = parts.offset;
    this.#live = parts.live;
    this.#snapshot = parts.snapshot;
    parts.live.onBroken((error) => {
      this.#broke(error);
    });
  }

  async *read(): AsyncGenerator<SourceBatch> {
    while (!this.#isClosed()) {
      const live = this.#live;
      try {
        if (this.#snapshot !== null) yield* this.#readSnapshot(this.#snapshot);
        yield* this.#readLog();
      } catch (error) {
        if (this.#isClosed()) return;
        if (this.#live === live) await (this.#recovery ?? this.#recover(error));
      }
    }
  }

  onDoubt(listener: (inDoubt: boolean) => void): void {
    this.#doubt = listener;
    if (this.#recovery !== null) listener(true);
  }

  /** The slot is the lock, and only the server knows who has it: a process that stood still has not read its connections yet. */
  async proveOwnership(): Promise<void> {
    while (!this.#isClosed() && !this.lost.aborted) {
      if (await this.#asksWhetherItOwns()) return;
      await sleep(PROOF_AGAIN, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
    await new Promise<never>(() => undefined);
  }

  async #asksWhetherItOwns(): Promise<boolean> {
    const live = this.#live;
    // The start snapshot has its own way: its session may be busy for long with one statement, and is watched by it.
    if (this.#snapshot !== null) return true;
    // Which is on its way to own it again, or to be told that another one does.
    if (this.#recovery !== null || live.failure !== null) return false;
    try {
      if ((await live.ownsSlot()) && live === this.#live) return true;
    } catch {
      // No answer: the connections are made anew, whatever they look like.
    }
    live.fail(new Error('Connection terminated: the server does not say that the slot is ours'));
    return false;
  }

  compare(a: Position, b: Position): number {
    return comparePositions(a, b, (left, right) => this.#parts.snapshot?.compare(left, right) ?? 0);
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
    if (parsed.kind !== 'log') return;
    const { held } = this.#parts;
    if (held === null) this.#live.confirm(parsed.lsn);
    else held.save(parsed.lsn);
  }

  status(): SourceStatus {
    return {
      state: this.#state(),
      lagBytes: this.#live.lagBytes,
      reconnects: this.#reconnects,
      retention: this.#parts.held?.status ?? null,
    };
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

  #readLog(): AsyncGenerator<SourceBatch> {
    const { pending, request } = this.#parts;
    const { visibility } = request.config;
    return liveBatches(this.#live, { pending, visibility, closing: this.#closing.signal });
  }

  /**
   * The slot may be another process's from now on. What comes back is found out at once, also while nobody asks for
   * events: those who could make room for more do not start before. The start snapshot has its own way, see there.
   */
  #broke(error: unknown): void {
    if (this.#isClosed() || this.#snapshot !== null) return;
    this.#doubt(true);
    this.#recovery = this.#recover(error);
    this.#recovery.then(
      () => {
        this.#recovery = null;
        this.#doubt(false);
      },
      // Whoever reads is told.
      () => {
        this.#parts.pending.wake();
      },
    );
  }

  async #recover(failure: unknown): Promise<void> {
    const { request, log } = this.#parts;
    this.#reconnecting = true;
    await this.#live.close();
    const live = await connectAgain(failure, {
      delays: request.config.reconnect,
      closing: this.#closing.signal,
      log,
      connect: () => this.#reconnect(),
      explain: (error) => {
        if (error instanceof OwnershipLostError) this.#loss.abort(error);
        return streamError(error, request.slot, request.publication);
      },
    });
    if (live === null) return;
    const before = this.#live;
    this.#live = live;
    // Something may have been confirmed while it was connecting.
    live.confirm(before.confirmed);
    live.onBroken((error) => {
      this.#broke(error);
    });
    this.#reconnecting = false;
    this.#reconnects += 1;
    if (this.#isClosed()) await live.close();
    else log.info({ reconnects: this.#reconnects }, 'connected to Postgres again');
  }

  async #reconnect(): Promise<LiveLog> {
    const { request, pending, held } = this.#parts;
    const session = await openSession(request, this.offset);
    try {
      const resume = this.#live.resumePoint;
      const standsAt = await this.#checkSame(session, resume);
      await this.#snapshot?.prepare(session, null);
      const { confirmed } = this.#live;
      const live = await LiveLog.start(session, {
        request,
        resume,
        confirmed: standsAt > confirmed ? standsAt : confirmed,
        pending,
        held,
      });
      await this.#refuseIfClaimed(live);
      return live;
    } catch (error) {
      await endClient(session.sql);
      if (isSlotInUse(error)) await this.#throwIfTakenOver();
      throw error;
    }
  }

  /** Is this still the log that was read before, with everything in it that was not read yet? Where its slot stands. */
  async #checkSame({ identity, server, slot, sql }: Session, resume: ResumePoint): Promise<Lsn> {
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
    return slot.confirmed;
  }

  /**
   * The slot is ours again: whoever had it meanwhile has claimed the offset, and nobody can from now on. The slot itself
   * need not tell: it stays where it is while retention holds it.
   */
  async #refuseIfClaimed(live: LiveLog): Promise<void> {
    try {
      const saved = await this.#parts.load();
      if (saved !== null && saved.epoch > this.offset.epoch) throw takenOver('another process');
    } catch (error) {
      await live.close();
      throw error;
    }
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

function takenOver(holder: string): OwnershipLostError {
  return new OwnershipLostError(`While the connection was down, ${holder} took the replication slot over.`);
}
