import type { LogReader, LogStart, LogState, OutboxEvent, Position } from '@strandline/core';
import { mysql, type MysqlOptions } from '@strandline/source-mysql';
import { TestLog, waitUntil } from '@strandline/test-kit';

/** What a reader on the table `outbox` has handed out so far. */
export class BesideOwner implements AsyncDisposable {
  readonly events: OutboxEvent[] = [];
  readonly passed: Position[] = [];
  failure: unknown = null;

  /** Resolves when the server sends its log; rejects with why it can't be read from there. */
  static async start(
    url: string,
    from: LogStart,
    options: Partial<MysqlOptions> = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<BesideOwner> {
    const request = { pipeline: 'follower', from, signal, log: new TestLog() };
    return new BesideOwner(await sourceOn(url, options).reader(request));
  }

  private constructor(readonly reader: LogReader) {
    this.#read().catch((error: unknown) => {
      this.failure = error;
    });
  }

  get payloads(): (string | null)[] {
    return this.events.map(({ payloadText }) => payloadText);
  }

  async untilEvents(count: number): Promise<void> {
    await this.until(`${String(count)} events came`, () => this.events.length >= count);
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    await waitUntil(what, () => {
      if (this.failure !== null) throw this.failure as Error;
      return condition();
    });
  }

  async untilFailed(): Promise<Error & { code: string }> {
    await waitUntil('the reader has failed', () => this.failure !== null);
    return this.failure as Error & { code: string };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.reader.close();
  }

  async #read(): Promise<void> {
    for await (const { events, passed } of this.reader.read()) {
      this.events.push(...events);
      if (passed !== null) this.passed.push(passed);
    }
  }
}

/** How far the log of the table `outbox` reaches. */
export function inspect(url: string): Promise<LogState> {
  const signal = new AbortController().signal;
  return sourceOn(url).inspect({ pipeline: 'follower', signal, log: new TestLog() });
}

function sourceOn(url: string, options: Partial<MysqlOptions> = {}): ReturnType<typeof mysql> {
  return mysql({
    url,
    outbox: { table: 'outbox', id: 'id', key: 'key', payload: 'payload' },
    reconnect: { initialDelay: 20, maxDelay: 200 },
    ...options,
  });
}
