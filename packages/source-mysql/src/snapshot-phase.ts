import type { Offset, Position, SourceBatch } from '@strandline/core';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import { PatientQueries } from './patient-queries.js';
import { placePosition } from './position.js';
import { SnapshotOrder, type Ids } from '@strandline/source-kit';
import type { Session } from './session.js';
import { SnapshotReader } from './snapshot-reader.js';

export interface SnapshotPhaseRequest {
  readonly live: Omit<LiveLogOptions, 'start'>;
  /** In the snapshot. */
  readonly sql: Session;
  readonly order: readonly string[];
  readonly offset: Offset;
  /** What commits from here on is in the stream. */
  readonly place: LogPlace;
  readonly streamed: Ids;
}

/** The first part of a pipeline that starts with the rows that are there, until they are all handed over. */
export class SnapshotPhase {
  readonly #request: SnapshotPhaseRequest;
  readonly #ranks: SnapshotOrder;

  constructor(request: SnapshotPhaseRequest) {
    this.#request = request;
    this.#ranks = new SnapshotOrder(request.offset.watermark);
  }

  /** The rest of the rows; then the position from which the log goes on. */
  async *read(): AsyncGenerator<SourceBatch> {
    const { live, sql, order, offset, place, streamed } = this.#request;
    const { table, config, facts, connector } = live;
    try {
      const reader = new SnapshotReader({
        sql,
        patient: new PatientQueries(connector, sql, config.silenceTimeout),
        table,
        outbox: config.outbox,
        nullKey: config.nullKey,
        order,
        after: offset.watermark,
        completed: offset.completed,
        ranks: this.#ranks,
        streamed,
      });
      for await (const events of reader.read()) yield { events, passed: null };
      yield { events: [], passed: placePosition(facts.server, place) };
    } finally {
      this.close();
    }
  }

  /** Orders two positions of the snapshot. */
  compare(a: Position, b: Position): number {
    return this.#ranks.compare(a, b);
  }

  /** Ends the session that holds the snapshot. */
  close(): void {
    this.#request.sql.destroy();
  }
}
