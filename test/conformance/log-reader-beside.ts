import type {
  LogReader,
  LogStart,
  LogState,
  OutboxEvent,
  Position,
  Source,
  SourceIdentity,
  SourceStream,
} from '@strandline/core';
import { memoryOffsets } from '@strandline/offsets-local';
import { TestLog, waitUntil } from '@strandline/test-kit';
import { Reading } from './reading.js';
import type { OpenTransaction } from './source.js';

/** An empty outbox on a server, for one test: what differs between the kinds of sources. */
export interface LogReaderDriver extends AsyncDisposable {
  /** A source over the outbox. Each call is another process. */
  source(): Source;
  begin(): Promise<OpenTransaction>;
  /** Commits one transaction with a row per key; resolves with their ids. */
  insert(...keys: readonly string[]): Promise<string[]>;
  /** Commits one transaction with so many rows and payloads of so many bytes. */
  insertMany(count: number, payload?: number): Promise<void>;
  /** Breaks the connections by which the log is read now, the owner's and the readers'; new ones work. */
  cutConnections(): Promise<void>;
  /** What the server has for those who read its log, each by a name of its own: sessions, slots. */
  belongings(): Promise<readonly string[]>;
}

const PIPELINE = 'conformance';

/** The owner of a log, which reads on, and who reads beside it. */
export class Beside implements AsyncDisposable {
  readonly log = new TestLog();
  readonly #readers: LogReader[] = [];
  readonly #abort = new AbortController();

  static async start(driver: LogReaderDriver): Promise<Beside> {
    const offsets = memoryOffsets();
    const abort = new AbortController();
    const stream = await driver.source().open({
      pipeline: PIPELINE,
      load: () => offsets.load(PIPELINE),
      claim: (seed) => offsets.claim(PIPELINE, seed),
      standby: () => undefined,
      signal: abort.signal,
      log: new TestLog(),
    });
    return new Beside(driver, new Reading(stream));
  }

  private constructor(
    readonly driver: LogReaderDriver,
    readonly owner: Reading<SourceStream>,
  ) {}

  get identity(): SourceIdentity {
    return this.owner.stream.identity;
  }

  async open(from: LogStart, signal: AbortSignal = this.#abort.signal): Promise<LogReader> {
    const reader = await this.driver.source().reader({ pipeline: PIPELINE, from, signal, log: this.log });
    this.#readers.push(reader);
    return reader;
  }

  async reading(from: LogStart): Promise<Reading<LogReader>> {
    return new Reading(await this.open(from));
  }

  inspect(): Promise<LogState> {
    return this.driver.source().inspect({ pipeline: PIPELINE, signal: this.#abort.signal, log: this.log });
  }

  /** The state once its head is at or behind a position: a log can bring what its server does not count yet. */
  stateBehind(position: Position): Promise<LogState> {
    return waitUntil<LogState | null>('the head is behind it', async () => {
      const state = await this.inspect();
      return state.compare(position, state.head) <= 0 ? state : null;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    for (const reader of this.#readers) await reader.close();
    await this.owner.stream.close();
  }
}

/** Runs one case with a log, its owner and a driver of its own. */
export type EachBeside = (
  name: string,
  run: (beside: Beside, driver: LogReaderDriver) => Promise<void>,
) => void;

export const idsOf = (events: readonly OutboxEvent[]): string[] => events.map(({ id }) => id);
