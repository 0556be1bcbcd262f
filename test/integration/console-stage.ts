import { startAdmin, type Admin, type AdminSettings } from 'strandline/admin';
import { deadLetters, definePipeline, mysql, PermanentError, postgres, redisOffsets } from 'strandline';
import type { HandlerContext, OutboxEvent, Pipeline, Source } from 'strandline';
import {
  TestLog,
  testOutbox,
  testRedis,
  waitUntil,
  type DatabaseKind,
  type TestOutbox,
  type TestRedis,
} from '@strandline/test-kit';

/** An hour: nothing is tried again by itself within a test. */
const LATER = 3_600_000;

/** What would run if the page took it for markup. */
export const HOSTILE = '<script>alert(1)</script><img src="x" onerror="alert(2)">';
const PAYLOAD = JSON.stringify({ note: HOSTILE, total: 12345678901234567890n.toString(), items: [1, 2] });

export interface Handled {
  readonly key: string;
  readonly id: string;
  /** In a replay the replay's. */
  readonly pipeline: string;
  readonly replay: boolean;
}

/** Pipelines on an outbox of their own, and consoles that show them. */
export class ConsoleStage implements AsyncDisposable {
  readonly kind: DatabaseKind;
  readonly outbox: TestOutbox;
  readonly redis: TestRedis;
  readonly log = new TestLog();
  /** What handlers were called for and did not fail. */
  readonly handled: Handled[] = [];
  /** Keys whose handler fails, each time with another error, until they are taken out. */
  readonly broken = new Set<string>();
  /** Keys whose handler fails for good. */
  readonly refused = new Set<string>();
  /** Keys whose handler does not end before this does. */
  readonly slow = new Map<string, Promise<void>>();
  readonly pipeline: Pipeline;
  readonly #opened: AsyncDisposable[] = [];

  static async open(kind: DatabaseKind): Promise<ConsoleStage> {
    const [outbox, redis] = await Promise.all([testOutbox(kind), testRedis()]);
    return new ConsoleStage(kind, outbox, redis);
  }

  private constructor(kind: DatabaseKind, outbox: TestOutbox, redis: TestRedis) {
    this.kind = kind;
    this.outbox = outbox;
    this.redis = redis;
    this.pipeline = this.define('orders');
  }

  /** Another one on the same outbox, or the same one as another process would have it. */
  define(name: string): Pipeline {
    const { url } = this.outbox;
    const pipeline = definePipeline({
      name,
      source: this.#source(name),
      offsets: redisOffsets({ url: this.redis.url, keyPrefix: this.redis.prefix }),
      deadLetters: deadLetters(this.kind === 'postgres' ? { postgres: { url } } : { mysql: { url } }),
      retry: { attempts: 1_000, initialDelay: 1, maxDelay: 1, jitter: 'none' },
      window: { bytes: 256 * 1024 * 1024 },
      log: this.log,
      handle: (event, ctx) => this.#handle(event, ctx),
    });
    this.#opened.push({ [Symbol.asyncDispose]: () => pipeline.stop() });
    return pipeline;
  }

  /** A console of its own; it goes with the stage, if it was not stopped before. */
  async serve(settings: Partial<AdminSettings> = {}): Promise<Admin> {
    const admin = await startAdmin({
      ...{ pipelines: [this.pipeline], address: '0', token: '', log: this.log },
      ...settings,
    });
    this.#opened.push(admin);
    return admin;
  }

  /** By the pipeline `orders`. */
  timesHandled(key: string): number {
    return this.handled.filter((one) => one.key === key && one.pipeline === 'orders').length;
  }

  /** Inserts events whose handlers fail, and waits until they have and the next try is far off. */
  async breakDown(...keys: readonly string[]): Promise<void> {
    for (const key of keys) this.broken.add(key);
    await this.outbox.insert(keys.map((key) => ({ key, payload: PAYLOAD })));
    await waitUntil('they wait to be tried again', async () => {
      const { strands } = await this.pipeline.strands({ sort: 'failing', limit: 1_000 });
      const waiting = strands.filter(({ state, attempts }) => state === 'backoff' && attempts === 3);
      return keys.every((key) => waiting.some((strand) => strand.key === key));
    });
  }

  /** Inserts events that are refused for good, and waits until they are letters. */
  async park(...keys: readonly string[]): Promise<void> {
    for (const key of keys) this.refused.add(key);
    await this.outbox.insert(keys.map((key) => ({ key, payload: PAYLOAD })));
    await waitUntil('they are stored', async () => {
      for (const key of keys) if ((await this.letters(key)) === 0) return false;
      return true;
    });
  }

  /** Letters of a key that wait. */
  async letters(key: string): Promise<number> {
    return (await this.pipeline.deadLetters?.list({ key, state: 'waiting' }))?.length ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opened of this.#opened.toReversed()) await opened[Symbol.asyncDispose]();
    await this.outbox[Symbol.asyncDispose]();
    await this.redis[Symbol.asyncDispose]();
  }

  async #handle({ key, id }: OutboxEvent, ctx: HandlerContext): Promise<void> {
    const { replay, attempt } = ctx;
    if (!replay) {
      if (this.refused.has(key)) throw new PermanentError(`the carrier refuses ${key}`);
      if (this.broken.has(key)) {
        if (attempt >= 3) ctx.retryAfter(LATER);
        throw new TypeError(`the carrier answered 50${String(attempt)} after ${String(attempt)} s`);
      }
      await this.slow.get(key);
    }
    this.handled.push({ key, id, pipeline: ctx.pipeline, replay });
  }

  /** With as much log as a replay reads. */
  #source(name: string): Source {
    const choice = this.outbox.sourceChoice();
    if ('mysql' in choice) return mysql(choice.mysql);
    const { postgres: options } = choice;
    const own = name === 'orders' ? {} : { slot: `${options.slot ?? ''}_${name}` };
    return postgres({ ...options, ...own, retention: { age: LATER } });
  }
}
