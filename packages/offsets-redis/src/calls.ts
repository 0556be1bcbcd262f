import type { RedisClient } from './client.js';
import { Connection } from './connection.js';
import { withDeadline } from './deadline.js';
import type { Endpoint } from './endpoint.js';
import { closedError, OffsetsError } from './errors.js';
import { explain, goesOn } from './failures.js';
import { keyOf, patternOf, pipelineOfKey, type Kept } from './key.js';
import type { ValidOptions } from './options.js';
import { answerTimeout } from './patience.js';
import { unknownFormat, unreadableField, wrongType } from './record.js';
import { runScript } from './run-script.js';
import { scanAll } from './scan-all.js';
import type { Script } from './scripts.js';

export interface Call {
  readonly script: Script;
  readonly key: string;
  readonly args: readonly string[];
  /** How long to wait for a connection, in milliseconds. Default: `connectTimeout`. */
  readonly patience?: number;
  /** Whether replicas are to have it, where the options ask for that. Default true. */
  readonly replicated?: boolean;
}

/** Outcomes of scripts that have written nothing: replicas need not have it. */
const WROTE_NOTHING: ReadonlySet<unknown> = new Set(['fenced', 'stale', 'changed', 'exists', 'missing']);

/** Keys that one SCAN looks at: less than a millisecond of the server. */
const KEYS_A_SCAN = 1_000;
/** Of one server, for all of its keys: some seconds. */
const MOST_SCANS = 10_000;

/** Asks Redis, each time within a deadline; what fails comes as an `OffsetsError` that says what it means. */
export class Calls {
  readonly name: string;
  readonly #endpoint: Endpoint;
  readonly #options: ValidOptions;
  readonly #connection: Connection;

  constructor(endpoint: Endpoint, options: ValidOptions) {
    this.name = endpoint.name;
    this.#endpoint = endpoint;
    this.#options = options;
    this.#connection = new Connection(endpoint, options);
  }

  keyOf(pipeline: string, kept: Kept): string {
    return keyOf(this.#options.keyPrefix, pipeline, kept);
  }

  /** The fields of a hash; none when there is no such key. */
  async hash(key: string): Promise<Readonly<Record<string, string>>> {
    const client = await this.#connection.ready(this.#options.connectTimeout);
    return this.#inTime(client, () => client.hgetall(key));
  }

  /** The values of a script that did what it should; the first one is the outcome. */
  async run({
    script,
    key,
    args,
    patience = this.#options.connectTimeout,
    replicated = true,
  }: Call): Promise<readonly (string | null)[]> {
    const client = await this.#connection.ready(patience);
    const replicas = replicated ? this.#options.replicas : undefined;
    const reply = await this.#inTime(client, (signal) =>
      runScript(client, { script, key, values: args, replicas }, signal),
    );
    const [outcome, first, second] = reply.values;
    if (outcome === 'wrong-type') throw wrongType(first ?? '', key, this.name);
    if (outcome === 'wrong-format') throw unknownFormat(first ?? '', key, this.name);
    if (outcome === 'wrong-field')
      throw unreadableField(`${first ?? ''} (${JSON.stringify(second?.slice(0, 40))})`, key, this.name);
    if (replicas !== undefined && !WROTE_NOTHING.has(outcome) && reply.replicas < replicas.count)
      throw this.#tooFew(reply.replicas);
    return reply.values;
  }

  /** What the server says to commands that concern no key: to each its answer, or the error that it got. */
  async ask(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> {
    const client = await this.#connection.ready(this.#options.connectTimeout);
    const answers = await this.#inTime(client, () => client.pipeline(commands.map((one) => [...one])).exec());
    return (answers ?? []).map(([error, answer]) => error ?? answer);
  }

  /**
   * The pipelines of which something is kept, on a cluster on any of its nodes. SCAN looks at all keys of a server, a
   * thousand at a time: what is in use by other pipelines meanwhile is not held up.
   */
  async pipelines(kept: Kept): Promise<readonly string[]> {
    const client = await this.#connection.ready(this.#options.connectTimeout);
    const { keyPrefix } = this.#options;
    const found = new Set<string>();
    await scanAll({
      name: this.name,
      keyspace: () => this.#inTime(client, () => this.#connection.keyspace(client)),
      scan: async (node) => {
        let cursor = '0';
        let calls = 0;
        do {
          if (calls++ === MOST_SCANS) throw this.#tooManyKeys();
          const [next, keys] = await this.#inTime(client, () =>
            node.scan(cursor, 'MATCH', patternOf(keyPrefix, kept), 'COUNT', KEYS_A_SCAN),
          );
          for (const key of keys) {
            const pipeline = pipelineOfKey(keyPrefix, key, kept);
            if (pipeline !== null) found.add(pipeline);
          }
          cursor = next;
        } while (cursor !== '0');
      },
    });
    return [...found];
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #inTime<T>(client: RedisClient, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withDeadline(answerTimeout(this.#options), work, () => {
        this.#connection.abandon(client);
        return this.#silent();
      });
    } catch (error) {
      if (this.#connection.isClosed) throw closedError(this.name);
      const explained = explain(error, this.#endpoint, this.#connection.lastTrouble);
      // A node that was demoted keeps its connections: only a new one finds the node that took over.
      if (explained.code === 'OFFSETS_READONLY') this.#connection.abandon(client);
      throw explained;
    }
  }

  #silent(): OffsetsError {
    return new OffsetsError(
      'OFFSETS_UNAVAILABLE',
      `${this.name} did not answer within ${String(answerTimeout(this.#options))} ms.`,
      `Look at its load, and at the network between. ${goesOn}`,
    );
  }

  #tooManyKeys(): OffsetsError {
    return new OffsetsError(
      'OFFSETS_CONFIG',
      `${this.name} has more than ${String(KEYS_A_SCAN * MOST_SCANS)} keys: to find the pipelines among them would take too long.`,
      'Keep the offsets in a Redis of their own, or in a database of their own (redis://host/1).',
    );
  }

  #tooFew(found: number): OffsetsError {
    const { count, timeout } = this.#options.replicas ?? { count: 0, timeout: 0 };
    return new OffsetsError(
      'OFFSETS_UNAVAILABLE',
      `${this.name} has it, but only ${String(found)} of ${String(count)} replicas had it within ${String(timeout)} ms.`,
      `Look at the replication, or ask for fewer in replicas.count. ${goesOn}`,
    );
  }
}
