import type {
  LogReader,
  LogReaderRequest,
  OutboxEvent,
  Position,
  SourceBatch,
  SourceIdentity,
} from '@strandline/core';
import { isTransient } from './connect-errors.js';
import { withSession } from './connection.js';
import { connectLog, type ConnectedLog } from './connect-log.js';
import type { MysqlIdentity } from './identity.js';
import type { LiveLogOptions } from './live-log-options.js';
import { LogFiles } from './log-files.js';
import { LogFollower } from './log-follower.js';
import { explainHistory } from './log-history.js';
import { PositionOrder } from './position-order.js';
import { parseLogPosition, placePosition } from './position.js';
import { readerStart, type ReaderStart } from './reader-start.js';
import { readLogEnd } from './server.js';
import { streamError } from './stream-errors.js';

type Live = Omit<LiveLogOptions, 'start' | 'layouts'>;

/** What belongs to one reading, once the server sends its log. */
interface Opened {
  readonly start: ReaderStart;
  readonly connected: ConnectedLog;
  readonly files: LogFiles;
  /** The end of the log before it was connected. */
  readonly head: Position;
}

/** A part of the binlog, read beside the owner: with no lock, no offset, and a server id of its own. */
export class MysqlLogReader implements LogReader {
  readonly identity: SourceIdentity;
  readonly #order: PositionOrder;
  readonly #files: LogFiles;
  readonly #log: LogFollower;
  readonly #batches: AsyncGenerator<SourceBatch>;
  readonly #signal: AbortSignal;
  #start: Position;
  /** Until the first event that has committed since then, Unix seconds. */
  #since: number | null;
  /** What was read to find the start, and lies behind it. */
  #found: SourceBatch | null = null;

  /** Resolves once the server sends its log; rejects with why it can't be read from there. */
  static async open(
    live: Live,
    identity: MysqlIdentity,
    { from, signal }: Pick<LogReaderRequest, 'from' | 'signal'>,
  ): Promise<MysqlLogReader> {
    try {
      const opened = await withSession(live.connector, async (sql): Promise<Opened> => {
        const start = await readerStart(live, identity, sql, from);
        const head = placePosition(live.facts.server, await readLogEnd(sql, live.facts));
        const files = await LogFiles.read(sql, live.facts.server);
        const connected = await connectLog({
          live,
          start: start.place,
          from: parseLogPosition(start.position),
          watermark: start.position,
          layouts: null,
          signal,
        });
        return { start, connected, files, head };
      });
      const reader = new MysqlLogReader(live, identity, opened, signal);
      try {
        await reader.#seek(opened.head);
        signal.throwIfAborted();
        return reader;
      } catch (error) {
        reader.#end();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw await explainHistory(isTransient(error) ? error : streamError(error, ''), live);
    }
  }

  private constructor(
    live: Live,
    identity: MysqlIdentity,
    { start: { place, position, after, since }, connected, files }: Opened,
    signal: AbortSignal,
  ) {
    this.identity = identity;
    this.#start = position;
    this.#since = since;
    this.#files = files;
    this.#order = new PositionOrder(live.facts.flavour);
    this.#log = new LogFollower({
      live,
      order: this.#order,
      start: place,
      from: parseLogPosition(position),
      after,
      watermark: position,
      connected,
      // Nobody owns it.
      check: () => undefined,
      explain: (error) => explainHistory(streamError(error, position), live),
    });
    this.#batches = this.#log.read();
    this.#signal = signal;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#end, { once: true });
  }

  get start(): Position {
    return this.#start;
  }

  async *read(): AsyncGenerator<SourceBatch> {
    if (this.#found !== null) yield this.#found;
    this.#found = null;
    for await (const batch of this.#batches) {
      const events = this.#since === null ? batch.events : this.#eventsSince(batch.events, this.#since);
      if (events.length > 0 || batch.passed !== null) yield { events, passed: batch.passed };
    }
  }

  compare(a: Position, b: Position): number {
    return this.#order.compare(a, b);
  }

  /** Null too for a place in a file that was begun after the reader was opened, unless both lie in it. */
  bytesBetween(a: Position, b: Position): number | null {
    const [from, to] = [parseLogPosition(a), parseLogPosition(b)];
    return from === null || to === null ? null : this.#files.bytesBetween(from, to);
  }

  close(): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #end = (): void => {
    this.#signal.removeEventListener('abort', this.#end);
    this.#log.close();
  };

  /**
   * Goes on to what committed since the time that was asked for, or to the end of the log: whoever resumes from a
   * position behind the start knows of no time.
   */
  async #seek(head: Position): Promise<void> {
    while (this.#since !== null && this.#order.compare(this.#start, head) < 0) {
      const next = await this.#batches.next();
      if (next.done === true) return;
      const { events, passed } = next.value;
      const wanted = this.#eventsSince(events, this.#since);
      const before = events.at(-1 - wanted.length)?.position;
      if (wanted.length > 0) this.#found = { events: wanted, passed };
      this.#start = (wanted.length > 0 ? null : passed) ?? before ?? this.#start;
    }
  }

  /** All from the first one on: the times of the log are whole seconds, and need not rise with it. */
  #eventsSince(events: readonly OutboxEvent[], since: number): readonly OutboxEvent[] {
    const first = events.findIndex(({ transaction }) => Date.parse(transaction.commitTime) >= since * 1_000);
    if (first < 0) return [];
    this.#since = null;
    return events.slice(first);
  }
}
