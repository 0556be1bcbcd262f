import type { DeadLettersOptions } from '@strandline/dead-letters';
import {
  MemoryHistory,
  recorded,
  testOutbox,
  waitUntil,
  type DatabaseKind,
  type TestOutbox,
} from '@strandline/test-kit';
import {
  deadLetterDesk,
  deadLetters,
  PermanentError,
  type DeadLetter,
  type DeadLetterDesk,
  type HandlerContext,
  type LetterFilter,
  type OutboxEvent,
  type Pipeline,
  type PipelineOptions,
} from 'strandline';
import { Pipelines } from './pipelines.js';

export const NAME = 'shop';

/** Where dead letters are kept in the database of this URL. */
export function lettersIn(url: string): DeadLettersOptions {
  return url.startsWith('postgres') ? { postgres: { url } } : { mysql: { url } };
}

/**
 * A pipeline on an outbox of its own, with a dead-letter table in the same database or another, whose handler fails for
 * good for what a test breaks; and an operator in another process, who has nothing but the table.
 */
export class FailingShop implements AsyncDisposable {
  readonly history = new MemoryHistory();
  readonly broken = new Set<string>();
  readonly pipelines: Pipelines;
  readonly operator: DeadLetterDesk;
  /** Awaited by each handler before it ends. */
  before: (event: OutboxEvent, ctx: HandlerContext) => Promise<unknown> | undefined = () => undefined;

  static async open(kind: DatabaseKind): Promise<FailingShop> {
    const outbox = await testOutbox(kind);
    return new FailingShop(outbox, lettersIn(outbox.url), outbox);
  }

  /** @param owned what goes with it */
  constructor(
    readonly outbox: TestOutbox,
    readonly letters: DeadLettersOptions,
    readonly owned: AsyncDisposable | null = null,
  ) {
    this.pipelines = new Pipelines(outbox, NAME);
    this.operator = deadLetterDesk(letters);
  }

  start(
    settings: Partial<Omit<PipelineOptions, 'name' | 'source' | 'batch' | 'handle'>> = {},
  ): Promise<Pipeline> {
    return this.pipelines.start(
      (event, ctx) =>
        recorded(this.history.record, { run: 1, attempt: ctx.attempt, events: [event] }, async () => {
          await this.before(event, ctx);
          if (this.broken.has(event.key) || this.broken.has(event.id))
            throw new PermanentError(`no stock of ${event.key}`);
        }),
      { deadLetters: deadLetters(this.letters), parking: { poll: 20 }, ...settings },
    );
  }

  get log(): Pipelines['log'] {
    return this.pipelines.log;
  }

  /** One transaction each; their ids. */
  async insert(keys: string): Promise<string[]> {
    const ids: string[] = [];
    for (const key of keys) ids.push(...(await this.outbox.insert([{ key }])));
    return ids;
  }

  /** Handler calls of a key that succeeded, by their events' ids, in order. */
  handled(key: string): string[] {
    return this.history
      .ofKey(key)
      .filter(({ what }) => what === 'succeeded')
      .flatMap(({ ids }) => ids);
  }

  async untilHandled(key: string, ids: readonly (string | undefined)[]): Promise<void> {
    await this.history.until(
      `${key} was handled ${String(ids.length)} times`,
      () => this.handled(key).length >= ids.length,
    );
  }

  /** In the order of the key. */
  async all(filter: LetterFilter): Promise<DeadLetter[]> {
    const letters = await this.operator.list(NAME, filter, { after: null, limit: 1_000 });
    return letters.toSorted((a, b) => a.place - b.place);
  }

  async waiting(key: string): Promise<string[]> {
    return (await this.all({ key, state: 'waiting' })).map(({ event }) => event.id);
  }

  async untilWaiting(key: string, ids: readonly (string | undefined)[]): Promise<void> {
    await waitUntil(
      `${String(ids.length)} letters of ${key} wait`,
      async () => (await this.waiting(key)).join() === ids.join(),
    );
  }

  /** These wait, and the first of them has failed: nobody is at it any more. */
  async untilFailed(key: string, ids: readonly (string | undefined)[]): Promise<void> {
    await waitUntil(`the head of ${key} has failed`, async () => {
      const letters = await this.all({ key, state: 'waiting' });
      const hasFailed = letters.some(({ failure }) => failure !== null);
      return hasFailed && letters.map(({ event }) => event.id).join() === ids.join();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pipelines[Symbol.asyncDispose]();
    await this.operator.close();
    await this.owned?.[Symbol.asyncDispose]();
  }
}
