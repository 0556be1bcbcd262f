import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  StrandlineError,
  type DiagnosisRequest,
  type Finding,
  type LogReader,
  type LogReaderRequest,
  type LogState,
  type Offset,
  type OpenRequest,
  type OutboxPruner,
  type PrunerRequest,
  type Source,
  type SourceStream,
} from '@strandline/core';
import { connectError, isTransient } from './connect-errors.js';
import type { PostgresConfig } from './config.js';
import { createConnector, endClient } from './connection.js';
import { diagnose } from './diagnose/index.js';
import { inspectLog } from './inspect.js';
import { LiveLog } from './live-log.js';
import { createPending } from './pending.js';
import { compareLog, parsePosition } from './position.js';
import { openPruner } from './prune/pruner.js';
import { HeldLog } from './retention/held-log.js';
import { openLogReader } from './reader/open-reader.js';
import { openSession, type SessionRequest } from './session.js';
import { isSlotInUse, waitForSlot } from './slot-owner.js';
import { inSnapshot, snapshotIdentityOf, SnapshotPhase } from './snapshot-phase.js';
import { StartOverError, startingPoint, type StartingPoint } from './starting-point.js';
import { PostgresStream } from './stream.js';
import { streamError } from './stream-errors.js';

/** Milliseconds before everything is looked at anew when another process got in between. */
const START_OVER_DELAY = 100;

/** The order of opening: wait for the slot, load the offset, check, own the slot, claim the offset, read. */
export class PostgresSource implements Source {
  readonly name = 'postgres';
  readonly #config: PostgresConfig;

  constructor(config: PostgresConfig) {
    this.#config = config;
  }

  async open(open: OpenRequest): Promise<SourceStream> {
    const request = this.#sessionRequest(open);
    for (;;) {
      try {
        return await this.#open(request, open);
      } catch (error) {
        const again = error instanceof StartOverError || isSlotInUse(error);
        if (open.signal.aborted || !again) throw explain(error, request);
        await sleep(START_OVER_DELAY, undefined, { signal: open.signal });
      }
    }
  }

  async reader(open: LogReaderRequest): Promise<LogReader> {
    return this.#look(open, (request) => openLogReader(request, open));
  }

  async inspect(open: Pick<LogReaderRequest, 'pipeline' | 'signal' | 'log'>): Promise<LogState> {
    return this.#look(open, inspectLog);
  }

  async diagnose(asked: DiagnosisRequest): Promise<readonly Finding[]> {
    // With `create` as it is set: what the first start would make need not be there.
    return this.#look(asked, (request) => diagnose({ ...request, config: this.#config }, asked));
  }

  async pruner(asked: PrunerRequest): Promise<OutboxPruner | null> {
    return this.#look(asked, (request) => openPruner(request, asked));
  }

  /** For who looks on: nothing is created for it. */
  async #look<T>(
    open: Pick<LogReaderRequest, 'pipeline' | 'signal' | 'log'>,
    look: (request: SessionRequest) => Promise<T>,
  ): Promise<T> {
    const request = this.#sessionRequest(open);
    open.signal.throwIfAborted();
    try {
      return await look({ ...request, config: { ...this.#config, create: false } });
    } catch (error) {
      throw open.signal.aborted ? open.signal.reason : explain(error, request);
    }
  }

  async #open(request: SessionRequest, open: OpenRequest): Promise<SourceStream> {
    const session = await openSession(request, await open.load());
    let live: LiveLog | null = null;
    let start: StartingPoint | null = null;
    try {
      await waitForSlot({
        connector: request.connector,
        slot: request.slot,
        sql: session.sql,
        mode: this.#config.standby,
        pipeline: open.pipeline,
        standby: (owner) => {
          open.standby(owner);
        },
        signal: open.signal,
      });
      start = await startingPoint(session, request, open);
      const snapshot =
        start.offset !== null && inSnapshot(start.offset.watermark)
          ? snapshotPhase(request, start.offset)
          : null;
      await snapshot?.prepare(session, start.exportedSnapshot);
      await start.release();
      const pending = createPending();
      const resume = { lsn: start.lsn, ordinal: 0 };
      const held = heldLog(request, start);
      live = await LiveLog.start(session, {
        request,
        resume,
        confirmed: held === null ? resume.lsn : start.confirmed,
        held,
        pending,
      });
      // Nothing is wanted before the offset is claimed.
      live.pause();
      const offset = await open.claim(start.seed);
      if (isAnother(offset, start)) throw new StartOverError('the offset was moved meanwhile');
      return new PostgresStream({
        request,
        pipeline: open.pipeline,
        load: () => open.load(),
        offset,
        pending,
        live,
        snapshot,
        held,
        log: open.log,
      });
    } catch (error) {
      await start?.release();
      await live?.close();
      await endClient(session.sql);
      throw error;
    }
  }

  #sessionRequest(open: Pick<OpenRequest, 'pipeline' | 'log'>): SessionRequest {
    const { slot, publication, connection, connectTimeout, silenceTimeout } = this.#config;
    const defaultName = `strandline_${open.pipeline.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}`.slice(
      0,
      63,
    );
    return {
      config: this.#config,
      slot: slot ?? defaultName,
      publication: publication ?? defaultName,
      log: open.log,
      connector: createConnector(connection, {
        pipeline: open.pipeline,
        instance: randomUUID().slice(0, 8),
        connectTimeout,
        answerTimeout: silenceTimeout,
      }),
    };
  }
}

/** Null unless settled log is kept. */
function heldLog({ config, slot, log }: SessionRequest, { lsn, confirmed }: StartingPoint): HeldLog | null {
  const { retention } = config;
  return retention && new HeldLog({ config: retention, slot, released: confirmed, saved: lsn, log });
}

function snapshotPhase(request: SessionRequest, offset: Offset): SnapshotPhase | null {
  const identity = snapshotIdentityOf(offset);
  return identity && new SnapshotPhase(request, offset, identity);
}

/**
 * Was the offset moved since it was loaded, so that it does not fit what was prepared for it? Further on in the log
 * is no harm. In the start snapshot it is: there only the rows of the loaded offset have a rank. A former owner that
 * has lost its connection to Postgres, and not the one to the store, goes on saving until the claim.
 */
function isAnother(claimed: Offset, { offset, lsn }: StartingPoint): boolean {
  const watermark = parsePosition(claimed.watermark);
  if (watermark.kind === 'log') return compareLog(watermark, { lsn, ordinal: 0 }) < 0;
  return claimed.watermark !== offset?.watermark || claimed.revision !== offset.revision;
}

function explain(error: unknown, { connector, slot, publication }: SessionRequest): unknown {
  // An error of the offset store passes through: it says itself what is wrong, and where.
  if (error instanceof StrandlineError || !(error instanceof Error)) return error;
  return isTransient(error) ? connectError(error, connector.target) : streamError(error, slot, publication);
}
