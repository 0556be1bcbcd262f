import { inspect } from 'node:util';
import type { Offset } from '@strandline/core';
import {
  createOutbox,
  outboxSource,
  TestLog,
  testDatabase,
  waitUntil,
  type OutboxSource,
  type TestDatabase,
} from '@strandline/test-kit';
import {
  definePipeline,
  memoryOffsets,
  postgres,
  StrandlineError,
  type HandlerContext,
  type OutboxEvent,
  type Pipeline,
  type PipelineOptions,
  type PostgresOptions,
} from 'strandline';
import { expect } from 'vitest';

type Handle = (event: OutboxEvent, ctx: HandlerContext) => unknown;

type Settings = Partial<Omit<PipelineOptions, 'source' | 'offsets' | 'handle' | 'batch'>> & {
  readonly handle?: Handle;
};

/**
 * An application with an outbox, whose pipeline a test starts, breaks and starts again: every pipeline that it makes
 * has the same offsets, and what their handlers succeeded for is noted in one list.
 */
export class App implements AsyncDisposable {
  readonly storage = new Map<string, Offset>();
  readonly log = new TestLog();
  /** Events whose handler has succeeded, in that order, from all pipelines. */
  readonly handled: OutboxEvent[] = [];
  readonly #pipelines: Pipeline[] = [];

  /** With the table `outbox (id, key, payload, created_at)`. */
  static async create(serverUrl?: string): Promise<App> {
    const db = await testDatabase(serverUrl);
    return new App(db, await createOutbox(db));
  }

  /** With tables of the test's own making. */
  static async withTables(sql: string, serverUrl?: string): Promise<App> {
    const db = await testDatabase(serverUrl);
    await db.pool.query(sql);
    return new App(db, outboxSource(db));
  }

  private constructor(
    readonly db: TestDatabase,
    readonly source: OutboxSource,
  ) {}

  /** A pipeline that was not started yet; by default its handler does nothing. */
  pipeline(
    options: Partial<PostgresOptions> = {},
    { handle = () => undefined, ...settings }: Settings = {},
  ): Pipeline {
    const pipeline = definePipeline({
      name: 'app',
      source: postgres({ ...this.source, ...options }),
      offsets: memoryOffsets({ storage: this.storage }),
      commitInterval: 10,
      log: this.log,
      handle: async (event, ctx) => {
        await handle(event, ctx);
        this.handled.push(event);
      },
      ...settings,
    });
    // Whoever expects it to fail awaits it; for the others the missing events tell.
    pipeline.finished.catch(() => undefined);
    this.#pipelines.push(pipeline);
    return pipeline;
  }

  async start(options: Partial<PostgresOptions> = {}, settings: Settings = {}): Promise<Pipeline> {
    const pipeline = this.pipeline(options, settings);
    await pipeline.start();
    return pipeline;
  }

  get ids(): string[] {
    return this.handled.map(({ id }) => id);
  }

  async untilHandled(count: number): Promise<void> {
    const what = `${String(count)} events are handled`;
    await waitUntil(what, () => this.handled.length >= count, { deadlineMs: 20_000 }).catch(
      (error: unknown) => {
        const ends = this.#pipelines.map((pipeline) => pipeline.status().state).join(', ');
        throw new Error(`${String(error)} There were ${String(this.handled.length)}; pipelines: ${ends}.`);
      },
    );
  }

  /** Waits until everything that was handled is saved and confirmed, and stops. */
  async stop(pipeline: Pipeline): Promise<void> {
    await pipeline.stop();
    expect(pipeline.status().state).toBe('stopped');
  }

  /**
   * What `start()` was refused with, checked for what every refusal must have: a message that ends with the remedy,
   * and neither password nor URL anywhere in error or log.
   */
  async refusal(pipeline: Pipeline): Promise<StrandlineError> {
    const error = await pipeline.start().then(
      () => expect.fail('it started'),
      (reason: unknown) => reason,
    );
    return this.#explained(pipeline, error);
  }

  /** The same of a pipeline that fails after it has started. */
  async failure(pipeline: Pipeline): Promise<StrandlineError> {
    const error = await pipeline.finished.then(
      () => expect.fail('it stopped without an error'),
      (reason: unknown) => reason,
    );
    return this.#explained(pipeline, error);
  }

  /** Whether there is a replication slot of this app's name. */
  async hasSlot(): Promise<boolean> {
    const { rowCount } = await this.db.pool.query('SELECT FROM pg_replication_slots WHERE slot_name = $1', [
      this.source.slot,
    ]);
    return rowCount === 1;
  }

  /** Runs SQL as the superuser. What is about the slot waits until a server under load has let go of it. */
  async sql(text: string): Promise<void> {
    const { slot } = this.source;
    if (text.includes(slot) && (await this.hasSlot())) await this.db.waitForSlot(slot, 'inactive');
    await this.db.pool.query(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pipelines.map((pipeline) => pipeline.stop()));
    await this.db[Symbol.asyncDispose]();
  }

  #explained(pipeline: Pipeline, error: unknown): StrandlineError {
    if (!(error instanceof StrandlineError)) throw new Error(`not explained: ${inspect(error)}`);
    expect(pipeline.status().state).toBe('failed');
    expect(error.remedy.length).toBeGreaterThan(20);
    expect(error.message.endsWith(error.remedy)).toBe(true);
    for (const secret of secretsOf(this.db.url)) {
      for (const text of [
        inspect(error, { depth: 12, showHidden: true }),
        inspect(this.log.lines, { depth: 12 }),
      ]) {
        expect(text).not.toContain(secret);
      }
    }
    return error as StrandlineError;
  }
}

function secretsOf(url: string): string[] {
  const { password } = new URL(url);
  return [url, ...(password === '' ? [] : [decodeURIComponent(password)])];
}

/** The database's URL with parts of it changed. */
export function changedUrl(
  url: string,
  change: Partial<Pick<URL, 'username' | 'password' | 'port' | 'pathname'>>,
): string {
  return Object.assign(new URL(url), change).href;
}

/** The SQL that a remedy tells the operator to run: from the first word up to the semicolon. */
export function sqlIn(remedy: string, firstWord: string): string {
  const start = remedy.indexOf(firstWord);
  const end = remedy.indexOf(';', start);
  if (start < 0 || end < 0) throw new Error(`no ${firstWord} …; in: ${remedy}`);
  return remedy.slice(start, end);
}
