import { randomUUID } from 'node:crypto';
import {
  invariant,
  type BookmarkStore,
  type CommitResult,
  type ControlStore,
  type Finding,
  type InstanceRegister,
  type Offset,
  type OffsetChange,
  type OffsetSeed,
  type OffsetStore,
  type ReplacedOffset,
} from '@strandline/core';
import { Calls } from './calls.js';
import { diagnose } from './diagnose.js';
import { endpointOf } from './endpoint.js';
import type { RedisOffsetsOptions, ValidOptions } from './options.js';
import {
  decode,
  decodeReplaced,
  encodeCompleted,
  encodeIdentity,
  encodeReplaced,
  type Held,
} from './record.js';
import { RedisBookmarks } from './redis-bookmarks.js';
import { RedisControls } from './redis-controls.js';
import { RedisInstances } from './redis-instances.js';
import { claimScript, commitScript, fields, replaceScript } from './scripts.js';
import { validate } from './validate.js';

/**
 * Keeps offsets in Redis (7.0 or newer, or a server that speaks like it): one hash per pipeline, written by
 * Lua scripts. `commit` compares the epoch, then the revision, and writes all or nothing, so neither a former
 * owner nor a command that runs late can move an offset back. Bookmarks, instances and controls have a hash each,
 * beside it.
 *
 * Nothing connects before the first use. After the first connection the store reconnects by itself in the
 * background; what is called meanwhile waits for it within its own deadline, then fails.
 *
 * @throws OffsetsError `OFFSETS_CONFIG` for wrong options.
 */
export function redisOffsets(options: RedisOffsetsOptions): OffsetStore & AsyncDisposable {
  const valid = validate(options);
  return new RedisOffsets(new Calls(endpointOf(valid), valid), valid);
}

class RedisOffsets implements OffsetStore {
  readonly name: string;
  readonly bookmarks: BookmarkStore;
  readonly instances: InstanceRegister;
  readonly controls: ControlStore;
  readonly #calls: Calls;
  readonly #options: ValidOptions;
  /** Tells our claims from those of other processes, see `claimScript`. */
  readonly #claimant = randomUUID();
  #attempts = 0;

  constructor(calls: Calls, options: ValidOptions) {
    this.name = calls.name;
    this.#calls = calls;
    this.#options = options;
    this.bookmarks = new RedisBookmarks(calls);
    this.instances = new RedisInstances(calls, options.commandTimeout);
    this.controls = new RedisControls(calls, options.commandTimeout);
  }

  async load(pipeline: string): Promise<Offset | null> {
    const { key, held } = await this.#held(pipeline);
    return held === null || held.vacant === 'reset' ? null : decode(held, key, this.name);
  }

  async claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    const key = this.#calls.keyOf(pipeline, 'offset');
    this.#attempts += 1;
    const attempt = String(this.#attempts);
    const values = await this.#calls.run({
      script: claimScript,
      key,
      args: [
        ...[encodeIdentity(seed.identity), seed.watermark, new Date().toISOString()],
        ...[this.#claimant, attempt],
      ],
    });
    return decode(
      Object.fromEntries(fields.map((name, index) => [name, values[index + 1] ?? null])),
      key,
      this.name,
    );
  }

  async commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    const key = this.#calls.keyOf(pipeline, 'offset');
    mustBeCounter('epoch', offset.epoch);
    mustBeCounter('revision', offset.revision);
    const [result] = await this.#calls.run({
      script: commitScript,
      key,
      args: [
        ...[encodeIdentity(offset.identity), offset.watermark, encodeCompleted(offset.completed)],
        ...[String(offset.epoch), String(offset.revision), offset.savedAt],
      ],
      patience: this.#options.commandTimeout,
    });
    return result as CommitResult;
  }

  async replace(
    pipeline: string,
    read: Offset | null,
    by: OffsetChange | null,
  ): Promise<'replaced' | 'changed'> {
    const now = new Date().toISOString();
    const was =
      read === null
        ? ['', '', '', '']
        : [String(read.epoch), String(read.revision), read.watermark, read.savedAt];
    const change =
      by === null
        ? ['reset', '{}', '', '[]']
        : ['set', encodeIdentity(by.identity), by.watermark, encodeCompleted(by.completed)];
    const [result] = await this.#calls.run({
      script: replaceScript,
      key: this.#calls.keyOf(pipeline, 'offset'),
      args: [...was, ...change, now, encodeReplaced(read, now)],
    });
    return result as 'replaced' | 'changed';
  }

  async replaced(pipeline: string): Promise<ReplacedOffset | null> {
    const { key, held } = await this.#held(pipeline);
    return held === null ? null : decodeReplaced(held, key, this.name);
  }

  diagnose(): Promise<readonly Finding[]> {
    return diagnose(this.#calls);
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #held(pipeline: string): Promise<{ readonly key: string; readonly held: Held | null }> {
    const key = this.#calls.keyOf(pipeline, 'offset');
    const held: Held = await this.#calls.hash(key);
    return { key, held: Object.keys(held).length === 0 ? null : held };
  }
}

function mustBeCounter(name: string, value: number): void {
  invariant(Number.isSafeInteger(value) && value >= 0, `${name} ${String(value)} is no counter`);
}
