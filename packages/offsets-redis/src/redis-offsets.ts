import { randomUUID } from 'node:crypto';
import {
  invariant,
  type CommitResult,
  type Offset,
  type OffsetSeed,
  type OffsetStore,
} from '@strandline/core';
import { answerTimeout, type RedisClient } from './client.js';
import { Connection } from './connection.js';
import { withDeadline } from './deadline.js';
import { endpointOf, type Endpoint } from './endpoint.js';
import { closedError, OffsetsError } from './errors.js';
import { explain, goesOn } from './failures.js';
import { offsetKey } from './key.js';
import type { RedisOffsetsOptions, ValidOptions } from './options.js';
import {
  decode,
  encodeCompleted,
  encodeIdentity,
  unknownFormat,
  unreadableField,
  wrongType,
  type Held,
} from './record.js';
import { runScript } from './run-script.js';
import { claimScript, commitScript, fields, type Script } from './scripts.js';
import { validate } from './validate.js';

/**
 * Keeps offsets in Redis (7.0 or newer, or a server that speaks like it): one hash per pipeline, written by two
 * Lua scripts. `commit` compares the epoch, then the revision, and writes all or nothing, so neither a former
 * owner nor a command that runs late can move an offset back.
 *
 * Nothing connects before the first `load`, `claim` or `commit`. After the first connection the store reconnects
 * by itself in the background; what is called meanwhile waits for it within its own deadline, then fails.
 *
 * @throws OffsetsError `OFFSETS_CONFIG` for wrong options.
 */
export function redisOffsets(options: RedisOffsetsOptions): OffsetStore & AsyncDisposable {
  const valid = validate(options);
  return new RedisOffsets(endpointOf(valid), valid);
}

class RedisOffsets implements OffsetStore {
  readonly name: string;
  readonly #endpoint: Endpoint;
  readonly #options: ValidOptions;
  readonly #connection: Connection;
  /** Tells our claims from those of other processes, see `claimScript`. */
  readonly #claimant = randomUUID();
  #attempts = 0;

  constructor(endpoint: Endpoint, options: ValidOptions) {
    this.name = endpoint.name;
    this.#endpoint = endpoint;
    this.#options = options;
    this.#connection = new Connection(endpoint, options);
  }

  async load(pipeline: string): Promise<Offset | null> {
    const key = offsetKey(this.#options.keyPrefix, pipeline);
    const client = await this.#connection.ready(this.#options.connectTimeout);
    const held: Held = await this.#inTime(client, () => client.hgetall(key));
    return Object.keys(held).length === 0 ? null : decode(held, key, this.name);
  }

  async claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    const key = offsetKey(this.#options.keyPrefix, pipeline);
    const client = await this.#connection.ready(this.#options.connectTimeout);
    this.#attempts += 1;
    const values = await this.#run(client, claimScript, key, [
      ...[encodeIdentity(seed.identity), seed.watermark, new Date().toISOString()],
      ...[this.#claimant, String(this.#attempts)],
    ]);
    return decode(
      Object.fromEntries(fields.map((name, index) => [name, values[index + 1] ?? null])),
      key,
      this.name,
    );
  }

  async commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    const key = offsetKey(this.#options.keyPrefix, pipeline);
    invariant(
      Number.isSafeInteger(offset.epoch) && offset.epoch >= 0,
      `epoch ${String(offset.epoch)} is no counter`,
    );
    invariant(
      Number.isSafeInteger(offset.revision) && offset.revision >= 0,
      `revision ${String(offset.revision)} is no counter`,
    );
    const client = await this.#connection.ready(this.#options.commandTimeout);
    const [result] = await this.#run(client, commitScript, key, [
      ...[encodeIdentity(offset.identity), offset.watermark, encodeCompleted(offset.completed)],
      ...[String(offset.epoch), String(offset.revision), offset.savedAt],
    ]);
    return result as CommitResult;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The values of a script that did what it should; the first one is the outcome. */
  async #run(
    client: RedisClient,
    script: Script,
    key: string,
    args: string[],
  ): Promise<readonly (string | null)[]> {
    const { replicas } = this.#options;
    const reply = await this.#inTime(client, (signal) =>
      runScript(client, { script, key, values: args, replicas }, signal),
    );
    const [outcome, first, second] = reply.values;
    if (outcome === 'wrong-type') throw wrongType(first ?? '', key, this.name);
    if (outcome === 'wrong-format') throw unknownFormat(first ?? '', key, this.name);
    if (outcome === 'wrong-field')
      throw unreadableField(`${first ?? ''} (${JSON.stringify(second?.slice(0, 40))})`, key, this.name);
    const hasWritten = outcome !== 'fenced' && outcome !== 'stale';
    if (replicas !== undefined && hasWritten && reply.replicas < replicas.count)
      throw this.#tooFew(reply.replicas);
    return reply.values;
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

  #tooFew(found: number): OffsetsError {
    const { count, timeout } = this.#options.replicas ?? { count: 0, timeout: 0 };
    return new OffsetsError(
      'OFFSETS_UNAVAILABLE',
      `${this.name} has it, but only ${String(found)} of ${String(count)} replicas had it within ${String(timeout)} ms.`,
      `Look at the replication, or ask for fewer in replicas.count. ${goesOn}`,
    );
  }
}
