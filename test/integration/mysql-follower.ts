import type { Offset, OutboxEvent } from '@strandline/core';
import { TestLog, waitUntil, type MysqlServerKind } from '@strandline/test-kit';
import type { Connection, Pool } from 'mysql2/promise';
import { definePipeline, memoryOffsets, mysql, type MysqlOptions, type Pipeline } from 'strandline';
import { expect } from 'vitest';

export const bothKinds: readonly MysqlServerKind[] = ['mysql', 'mariadb'];

export interface FollowOptions extends Partial<MysqlOptions> {
  readonly name?: string;
  /** Where the offset is kept: give one on to play a restart. */
  readonly storage?: Map<string, Offset>;
  readonly onEvent?: (event: OutboxEvent) => unknown;
}

/** A pipeline on the table `outbox`, and what it has handed out so far: the payloads, in order. */
export class Follower implements AsyncDisposable {
  readonly pipeline: Pipeline;
  readonly storage: Map<string, Offset>;
  readonly log = new TestLog();
  readonly events: OutboxEvent[] = [];
  failure: unknown = null;

  private constructor(url: string, options: FollowOptions) {
    const { name = 'follower', storage = new Map<string, Offset>(), onEvent, ...source } = options;
    this.storage = storage;
    this.pipeline = definePipeline({
      name,
      source: mysql({
        ...(source.connection === undefined ? { url } : {}),
        outbox: { table: 'outbox', id: 'id', key: 'key', payload: 'payload' },
        reconnect: { initialDelay: 20, maxDelay: 200 },
        start: 'now',
        ...source,
      }),
      offsets: memoryOffsets({ storage }),
      log: this.log,
      handle: (event) => {
        this.events.push(event);
        return onEvent?.(event);
      },
    });
    this.pipeline.finished.catch((error: unknown) => {
      this.failure = error;
    });
  }

  /** Resolves when it has started; rejects, with the follower stopped, when it can't. */
  static async start(url: string, options: FollowOptions = {}): Promise<Follower> {
    const follower = new Follower(url, options);
    await follower.pipeline.start();
    return follower;
  }

  get payloads(): (string | null)[] {
    return this.events.map(({ payloadText }) => payloadText);
  }

  /** Resolves when it has handed out so many events. */
  async untilEvents(count: number, deadlineMs = 20_000): Promise<void> {
    await waitUntil(
      `${String(count)} events were handed out (the last look: ${String(this.events.length)})`,
      () => {
        if (this.failure !== null) throw this.failure as Error;
        return this.events.length >= count;
      },
      { deadlineMs },
    ).catch((error: unknown) => {
      throw new Error(`Only ${String(this.events.length)} of ${String(count)} events came.`, {
        cause: error,
      });
    });
  }

  /** Resolves with the error that stopped it. */
  async untilFailed(deadlineMs = 20_000): Promise<Error & { code: string }> {
    await waitUntil('the pipeline has failed', () => this.failure !== null, { deadlineMs });
    return this.failure as Error & { code: string };
  }

  /** What was handed out is saved, and the lock let go. */
  stop(): Promise<void> {
    return this.pipeline.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The error with which a pipeline does not start, or soon stops, without having handed anything out. */
export async function failureOf(url: string, options: FollowOptions): Promise<Error & { code: string }> {
  let follower: Follower;
  try {
    follower = await Follower.start(url, options);
  } catch (error) {
    return error as Error & { code: string };
  }
  try {
    return await follower.untilFailed();
  } finally {
    expect(follower.payloads).toEqual([]);
    await follower.stop();
  }
}

/** The error with which a pipeline does not start. */
export async function refusal(url: string, options: FollowOptions = {}): Promise<Error & { code: string }> {
  let follower: Follower;
  try {
    follower = await Follower.start(url, options);
  } catch (error) {
    return error as Error & { code: string };
  }
  await follower.stop();
  throw new Error('It started.');
}

export const outboxTable =
  'CREATE TABLE outbox (id bigint AUTO_INCREMENT PRIMARY KEY, `key` varchar(255) NOT NULL, payload longtext)';

/** One statement, all rows of one key, so that their order shows. */
export async function insert(
  client: Pick<Connection, 'query'> | Pick<Pool, 'query'>,
  ...payloads: readonly string[]
): Promise<void> {
  await client.query('INSERT INTO outbox (`key`, payload) VALUES ?', [
    payloads.map((payload) => ['k', payload]),
  ]);
}

/** Payloads r1 to r<count>, so many in a statement. */
export async function insertMany(
  client: Pick<Connection, 'query'>,
  count: number,
  prefix = 'r',
): Promise<string[]> {
  const payloads = numbered(count, prefix);
  for (let at = 0; at < count; at += 5_000) await insert(client, ...payloads.slice(at, at + 5_000));
  return payloads;
}

export function numbered(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index + 1)}`);
}
