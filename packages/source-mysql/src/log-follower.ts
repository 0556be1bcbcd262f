import { setTimeout as sleep } from 'node:timers/promises';
import type { Position, SourceBatch } from '@strandline/core';
import { isTransient } from './connect-errors.js';
import { connectLog, type ConnectedLog } from './connect-log.js';
import { placeAfter } from './identity.js';
import type { LiveLog } from './live-log.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import type { MysqlPending } from './pending.js';
import type { PositionOrder } from './position-order.js';
import { parsePosition, type LogPosition } from './position.js';
import type { LogEnd } from './server.js';
import type { Session } from './session.js';
import { VisibilityGate } from './visibility-gate.js';

export interface FollowRequest {
  readonly live: Omit<LiveLogOptions, 'start' | 'layouts'>;
  readonly order: PositionOrder;
  readonly start: LogPlace;
  /** The position that `start` stands for, to see whether this is still its log; null when it has none. */
  readonly from: LogPosition | null;
  /** What lies at or before it is left out; null where all from `start` on is wanted. */
  readonly after: LogPosition | null;
  /** For errors. */
  readonly watermark: Position;
  /** Where it was connected before. */
  readonly connected: ConnectedLog | null;
  /** Asked before each batch and each connect. Throws when nothing more may be read. */
  readonly check: () => void;
  /** What to throw for a failure that no retry heals. */
  readonly explain: (error: unknown) => Promise<unknown>;
}

/** The events of the log from a place on, over one connection after the other. */
export class LogFollower {
  readonly #request: FollowRequest;
  readonly #pending: MysqlPending;
  readonly #closing = new AbortController();
  #sql: Session | null = null;
  #gate: VisibilityGate | null = null;
  /** What comes first was handed over before: after a reconnect, or by somebody else. */
  #catchingUp: boolean;
  #live: LiveLog | null;
  #layouts: LogEnd | null;
  #resume: LogPosition | null;
  #reconnecting = false;
  #reconnects = 0;

  constructor(request: FollowRequest) {
    this.#request = request;
    this.#pending = request.live.pending;
    this.#catchingUp = request.after !== null;
    this.#resume = request.after;
    this.#live = request.connected?.log ?? null;
    this.#layouts = request.connected?.layouts ?? null;
  }

  /** Ends when it is closed. */
  async *read(): AsyncGenerator<SourceBatch> {
    try {
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

  get paused(): boolean {
    return this.#live?.paused === true;
  }

  get reconnecting(): boolean {
    return this.#reconnecting;
  }

  get reconnects(): number {
    return this.#reconnects;
  }

  /** Has `read` call `check` at once. */
  wake(): void {
    this.#pending.wake();
  }

  /** Idempotent; ends `read`. */
  close(): void {
    this.#closing.abort();
    this.#pending.wake();
    this.#live?.close();
    this.#sql?.destroy();
  }

  async *#readLog(): AsyncGenerator<SourceBatch> {
    const { live, check } = this.#request;
    const gated = live.config.visibility === 'committed' && live.facts.gtids;
    this.#live ??= await this.#connect();
    this.#live.resume();
    const gate = await this.#openGate();
    while (!this.#isClosed()) {
      check();
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
    const { connector, facts } = this.#request.live;
    this.#sql = await connector.connect();
    this.#gate = new VisibilityGate(this.#sql, facts);
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
      return parsed.kind !== 'log' || this.#request.order.inLog(parsed, resume) > 0;
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

  /** Where the next dump starts: after what was handed over, at the start of a transaction. */
  #remember({ events, passed }: SourceBatch): void {
    const position = passed ?? events.at(-1)?.position;
    if (position === undefined) return;
    const parsed = parsePosition(position);
    if (parsed.kind === 'log') this.#resume = parsed;
  }

  async #connect(): Promise<LiveLog> {
    const { live, start, from, watermark } = this.#request;
    const { log, layouts } = await connectLog({
      live,
      start: this.#resume === null ? start : placeAfter(this.#resume),
      from: this.#resume ?? from,
      watermark,
      layouts: this.#layouts,
      signal: this.#closing.signal,
    });
    this.#layouts = layouts;
    return log;
  }

  async #recover(failure: unknown): Promise<void> {
    const { live, check, explain } = this.#request;
    const { initialDelay, maxDelay } = live.config.reconnect;
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
      check();
      if (!isTransient(error)) throw await explain(error);
      const delay = Math.min(maxDelay, initialDelay * 2 ** attempt) * (0.5 + Math.random() / 2);
      const reason = error instanceof Error ? error.message : String(error);
      live.log.warn({ reason, delay: Math.round(delay) }, 'lost the dump of the binlog: connecting again');
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

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}

const always = (): boolean => true;
