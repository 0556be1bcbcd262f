import type { Logger, LogReader, Position, SourceBatch, SourceIdentity } from '@strandline/core';
import { endClient } from '../connection.js';
import { checkHistory, isSamePublication, publicationChanged } from '../identity.js';
import { liveBatches } from '../live-batches.js';
import { LiveLog } from '../live-log.js';
import type { PostgresPending } from '../pending.js';
import { bytesBetween, comparePositions, logPosition, parsePosition } from '../position.js';
import { connectAgain } from '../reconnecting.js';
import { openSession, type SessionRequest } from '../session.js';
import { streamError } from '../stream-errors.js';
import { SlotCopy } from './temporary-slot.js';

export interface LogReaderParts {
  readonly request: SessionRequest;
  readonly identity: SourceIdentity;
  readonly start: Position;
  readonly pending: PostgresPending;
  readonly live: LiveLog;
  readonly log: Logger;
  /** Closes it. */
  readonly signal: AbortSignal;
}

/**
 * The log from a place on, read through a slot of the session's own. When the connection breaks the slot is gone, and
 * the next one is a copy of the pipeline's: that one must still reach back to where this reader stands.
 */
export class PostgresLogReader implements LogReader {
  readonly identity: SourceIdentity;
  readonly start: Position;
  readonly #parts: LogReaderParts;
  readonly #closing = new AbortController();
  #live: LiveLog;

  constructor(parts: LogReaderParts) {
    this.#parts = parts;
    this.identity = parts.identity;
    this.start = parts.start;
    this.#live = parts.live;
    parts.signal.addEventListener('abort', this.#abort, { once: true });
  }

  async *read(): AsyncGenerator<SourceBatch> {
    while (!this.#isClosed()) {
      try {
        yield* this.#readLog();
      } catch (error) {
        if (this.#isClosed()) return;
        await this.#recover(error);
      }
    }
  }

  compare(a: Position, b: Position): number {
    return comparePositions(a, b);
  }

  bytesBetween(a: Position, b: Position): number | null {
    return bytesBetween(a, b);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#parts.signal.removeEventListener('abort', this.#abort);
    this.#parts.pending.wake();
    await this.#live.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  readonly #abort = (): void => {
    void this.close();
  };

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async *#readLog(): AsyncGenerator<SourceBatch> {
    const { pending, request } = this.#parts;
    const { visibility } = request.config;
    const live = this.#live;
    for await (const batch of liveBatches(live, { pending, visibility, closing: this.#closing.signal })) {
      yield batch;
      // What was handed over need not be kept for this session's slot: a copy that is made later begins anew.
      const passed = batch.passed === null ? null : parsePosition(batch.passed);
      if (passed?.kind === 'log') live.confirm(passed.lsn);
    }
  }

  async #recover(failure: unknown): Promise<void> {
    const { request, log } = this.#parts;
    await this.#live.close();
    const live = await connectAgain(failure, {
      delays: request.config.reconnect,
      closing: this.#closing.signal,
      log,
      connect: () => this.#reconnect(),
      explain: (error) => streamError(error, request.slot, request.publication),
    });
    if (live === null) return;
    this.#live = live;
    if (this.#isClosed()) await live.close();
    else log.info({ slot: request.slot }, 'the reader is connected to Postgres again');
  }

  async #reconnect(): Promise<LiveLog> {
    const { request, pending } = this.#parts;
    const { resumePoint: resume, session: before } = this.#live;
    const position = logPosition(resume.lsn, resume.ordinal);
    const session = await openSession(request, null);
    try {
      const { identity, server } = session;
      if (!isSamePublication(before.identity, identity)) throw publicationChanged(request.slot, position);
      if (server.timeline !== before.server.timeline) {
        await checkHistory(request.connector, server, before.server.timeline, position, resume.lsn);
      }
      const slot = new SlotCopy({
        slot: request.slot,
        from: { lsn: resume.lsn, text: position },
        deadline: request.config.silenceTimeout,
      });
      return await LiveLog.start(session, { request, resume, slot, confirmed: 0n, pending });
    } catch (error) {
      await endClient(session.sql);
      throw error;
    }
  }
}
