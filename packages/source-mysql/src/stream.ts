import { setTimeout as sleep } from 'node:timers/promises';
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
import { parseExecuted, type Executed } from './gtids.js';
import { connectLog, type ConnectedLog } from './connect-log.js';
import { placeAfter, type MysqlIdentity } from './identity.js';
import type { LiveLog } from './live-log.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import type { Ownership } from './lock.js';
import type { MysqlPending } from './pending.js';
import { compareLog, parsePosition, type LogPosition } from './position.js';
import type { Session } from './session.js';
import type { SnapshotPhase } from './snapshot-phase.js';
import type { LogEnd } from './server.js';
import { streamError } from './stream-errors.js';
import { VisibilityGate } from './visibility-gate.js';

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

const KNOWN_SETS = 64;

/** The events of one owner, from the claimed offset on. Dumps come and go below it. */
export class MysqlStream implements SourceStream {
  readonly offset: Offset;
  readonly identity: SourceIdentity;
  readonly #parts: StreamParts;
  readonly #pending: MysqlPending;
  readonly #closing = new AbortController();
  readonly #sets = new Map<string, Executed>();
  #sql: Session | null = null;
  #gate: VisibilityGate | null = null;
  /** After a reconnect: what comes first was handed over before. */
  #catchingUp = false;
  #live: LiveLog | null = null;
  #layouts: LogEnd | null = null;
  #resume: LogPosition | null = null;
  #inSnapshot: boolean;
  #reconnecting = false;
  #reconnects = 0;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.offset = parts.offset;
    this.identity = parts.identity;
    this.#pending = parts.live.pending;
    this.#inSnapshot = parts.snapshot !== null;
    this.#live = parts.connected?.log ?? null;
    this.#layouts = parts.connected?.layouts ?? null;
    this.lost.addEventListener('abort', () => {
      this.#pending.wake();
      // Whoever waits for rows must not wait for them any longer.
      parts.snapshot?.close();
    });
  }

  get lost(): AbortSignal {
    return this.#parts.ownership.lost;
  }

  async *read(): AsyncGenerator<SourceBatch> {
    try {
      if (this.#parts.snapshot !== null) yield* this.#readSnapshot(this.#parts.snapshot.read());
      while (!this.#isClosed()) {
        try {
          yield* this.#readLog();
        } catch (error) {
          if (this.#isClosed()) return;
          await this.#recover(error);
        }
      }
    } finally {
      // `close` does not see what was still being opened.
      this.#live?.close();
      this.#sql?.destroy();
    }
  }

  compare(a: Position, b: Position): number {
    const left = parsePosition(a);
    const right = parsePosition(b);
    if (left.kind === 'log' && right.kind === 'log')
      return compareLog((text) => this.#set(text), left, right);
    if (left.kind !== right.kind) return left.kind === 'snapshot' ? -1 : 1;
    return this.#parts.snapshot?.compare(a, b) ?? 0;
  }

  /** The server keeps its binlog by age and size: there is nothing to release. */
  confirm(): void {
    // Nothing.
  }

  status(): SourceStatus {
    return { state: this.#state(), lagBytes: null, reconnects: this.#reconnects };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#pending.wake();
    this.#live?.close();
    this.#parts.snapshot?.close();
    this.#parts.ownership.release();
    this.#sql?.destroy();
    return Promise.resolve();
  }

  async *#readSnapshot(rows: AsyncGenerator<SourceBatch>): AsyncGenerator<SourceBatch> {
    try {
      for await (const batch of rows) {
        this.#requireOwnership();
        yield batch;
        if (this.#isClosed()) return;
      }
    } catch (error) {
      if (this.#isClosed()) return;
      this.#requireOwnership();
      if (!isTransient(error)) throw streamError(error, this.offset.watermark);
      // The snapshot went with its session; another one is opened behind what is saved, by whoever owns the pipeline.
      throw new OwnershipLostError('The session that reads the start snapshot has ended.', { cause: error });
    }
    this.#inSnapshot = false;
  }

  async *#readLog(): AsyncGenerator<SourceBatch> {
    const gated = this.#parts.live.config.visibility === 'committed' && this.#parts.live.facts.gtids;
    this.#live ??= await this.#connect();
    this.#live.resume();
    const gate = await this.#openGate();
    while (!this.#isClosed()) {
      this.#requireOwnership();
      const taken = this.#pending.take(gated ? gate.isVisible : always);
      if (taken !== null) {
        if (this.#pending.roomy) this.#live.resume();
        const batch = this.#catchingUp ? this.#withoutKnown(taken) : taken;
        this.#remember(batch);
        yield batch;
        continue;
      }
      const waiting = this.#pending.first;
      if (waiting !== null) await gate.untilVisible(waiting, this.#closing.signal);
      else await this.#next(this.#live);
    }
  }

  async #openGate(): Promise<VisibilityGate> {
    if (this.#gate !== null) return this.#gate;
    this.#sql = await this.#parts.live.connector.connect();
    this.#gate = new VisibilityGate(this.#sql, this.#parts.live.facts);
    return this.#gate;
  }

  /**
   * A dump starts at a transaction's start, or earlier for the sake of XA: what was handed over before is left
   * out, and the place from which to resume must not go back.
   */
  #withoutKnown({ events, passed }: SourceBatch): SourceBatch {
    const resume = this.#resume;
    if (resume === null) return { events, passed };
    const isNew = (position: Position): boolean => {
      const parsed = parsePosition(position);
      return parsed.kind !== 'log' || compareLog((text) => this.#set(text), parsed, resume) > 0;
    };
    const fresh = events.filter(({ position }) => isNew(position));
    const isPast = passed !== null && isNew(passed);
    if (fresh.length > 0 || isPast) this.#catchingUp = false;
    return { events: fresh, passed: isPast ? passed : null };
  }

  /** Nothing is left to hand over: hear a failure, or wait. */
  async #next(live: LiveLog): Promise<void> {
    if (live.failure !== null) throw live.failure.error;
    await this.#pending.arrival();
  }

  #requireOwnership(): void {
    this.lost.throwIfAborted();
  }

  /** Where the next dump starts: after what was handed over, at the start of a transaction. */
  #remember({ events, passed }: SourceBatch): void {
    const position = passed ?? events.at(-1)?.position;
    if (position === undefined) return;
    const parsed = parsePosition(position);
    if (parsed.kind === 'log') this.#resume = parsed;
  }

  async #connect(): Promise<LiveLog> {
    const { live, offset, snapshot } = this.#parts;
    const { watermark } = offset;
    const from = this.#resume ?? (snapshot === null ? parsePosition(watermark) : null);
    const { log, layouts } = await connectLog({
      live,
      start: this.#resume === null ? this.#parts.start : placeAfter(this.#resume),
      from: from?.kind === 'log' ? from : null,
      watermark,
      layouts: this.#layouts,
      signal: this.#closing.signal,
    });
    this.#layouts = layouts;
    return log;
  }

  async #recover(failure: unknown): Promise<void> {
    const { log, config } = this.#parts.live;
    const { initialDelay, maxDelay } = config.reconnect;
    let error = failure;
    this.#reconnecting = true;
    for (let attempt = 0; ; attempt += 1) {
      this.#live?.close();
      this.#live = null;
      this.#sql?.destroy();
      this.#sql = null;
      this.#gate = null;
      // What waits was not handed over: the next dump starts before it.
      this.#pending.clear();
      this.#catchingUp = true;
      this.#requireOwnership();
      if (!isTransient(error)) {
        // A process that stood still can hear first that the next owner's reader has taken the place of its own.
        await this.#parts.ownership.confirm();
        throw streamError(error, this.offset.watermark);
      }
      const delay = Math.min(maxDelay, initialDelay * 2 ** attempt) * (0.5 + Math.random() / 2);
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason, delay: Math.round(delay) }, 'lost the dump of the binlog: connecting again');
      try {
        await sleep(delay, undefined, { signal: this.#closing.signal });
        this.#live = await this.#connect();
        break;
      } catch (next) {
        if (this.#isClosed()) return;
        error = next;
      }
    }
    this.#reconnecting = false;
    this.#reconnects += 1;
  }

  /** Sets are compared again and again while an offset is resumed: the last ones are kept parsed. */
  #set(text: string): Executed {
    const known = this.#sets.get(text);
    if (known !== undefined) return known;
    const set = parseExecuted(this.#parts.live.facts.flavour, text);
    if (this.#sets.size >= KNOWN_SETS) this.#sets.clear();
    this.#sets.set(text, set);
    return set;
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #state(): SourceStatus['state'] {
    if (this.#isClosed()) return 'closed';
    if (this.#reconnecting) return 'reconnecting';
    if (this.#inSnapshot) return 'snapshot';
    return this.#live?.paused === true ? 'paused' : 'streaming';
  }
}

const always = (): boolean => true;
