import { SNAPSHOT_START, type Ids } from '@strandline/source-kit';
import type { Offset, Position, SourceBatch } from '@strandline/core';
import type { PostgresConfig } from './config.js';
import type { SnapshotIdentity } from './identity.js';
import { insertedSince } from './inserted-since.js';
import { parseLsn, type Lsn } from './lsn.js';
import { logPosition, parsePosition } from './position.js';
import { quoteText } from './quote.js';
import { decoderOptions, type Session } from './session.js';
import { SnapshotOrder } from '@strandline/source-kit';
import { SnapshotReader } from './snapshot-reader.js';
import { TransactionSnapshot } from './transaction-snapshot.js';

export interface SnapshotPhaseRequest {
  readonly config: PostgresConfig;
  readonly slot: string;
  readonly publication: string;
}

/** The first part of a pipeline that starts with the rows that are there, until they are all handed over. */
export class SnapshotPhase {
  /** What commits from here on is in the stream. */
  readonly consistentPoint: Lsn;
  readonly #request: SnapshotPhaseRequest;
  readonly #offset: Offset;
  readonly #identity: SnapshotIdentity;
  readonly #order: SnapshotOrder;
  #after: Position;
  #reader: SnapshotReader | null = null;

  constructor(request: SnapshotPhaseRequest, offset: Offset, identity: SnapshotIdentity) {
    this.#request = request;
    this.#offset = offset;
    this.#identity = identity;
    this.consistentPoint = parseLsn(identity.snapshotLsn) ?? 0n;
    this.#after = offset.watermark;
    this.#order = new SnapshotOrder(offset.watermark);
  }

  /**
   * Puts the session into the snapshot: the exported one on the first reading, else a new one beside which the
   * slot is peeked into. Must come before the slot is streamed from.
   */
  async prepare(session: Session, exported: string | null): Promise<void> {
    const { sql, table } = session;
    const { outbox, nullKey } = this.#request.config;
    if (table === null || outbox === null) return;
    await sql.query('begin isolation level repeatable read read only');
    if (exported !== null) await sql.query(`set transaction snapshot ${quoteText(exported)}`);
    // A policy would leave rows out without a word; off makes it an error.
    await sql.query('set local row_security = off');
    this.#reader = new SnapshotReader({
      sql,
      table,
      outbox,
      nullKey,
      after: this.#after,
      completed: this.#offset.completed,
      order: this.#order,
      resumed:
        exported === null
          ? {
              original: new TransactionSnapshot(this.#identity.snapshotXids),
              inserted: await this.#inserted(session),
            }
          : null,
    });
  }

  /** The rest of the rows; then the position from which the log goes on. */
  async *read(): AsyncGenerator<SourceBatch> {
    if (this.#reader !== null) {
      for await (const events of this.#reader.read()) {
        this.#after = events.at(-1)?.position ?? this.#after;
        yield { events, passed: null };
      }
    }
    yield { events: [], passed: logPosition(this.consistentPoint, 0) };
  }

  compare(a: Position, b: Position): number {
    return this.#order.compare(a, b);
  }

  async #inserted(session: Session): Promise<Ids> {
    const { slot, publication, config } = this.#request;
    return insertedSince(session.sql, slot, publication, decoderOptions(session, config));
  }
}

/** Does this offset still lie in the start snapshot? Then what it says of the snapshot; null of one never taken. */
export function snapshotIdentityOf(offset: Offset): SnapshotIdentity | null {
  const { snapshotLsn, snapshotXids } = offset.identity;
  return snapshotLsn === undefined || snapshotXids === undefined ? null : { snapshotLsn, snapshotXids };
}

export function inSnapshot(position: Position): boolean {
  return position === SNAPSHOT_START || parsePosition(position).kind === 'snapshot';
}
