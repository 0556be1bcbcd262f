import type { DeadLetterDesk, DeadLetterStore } from '@strandline/core';
import { AT_ONCE, byId, isHeld, LetterTable, toLetter, waitingOf } from './letter-table.js';

/**
 * A dead-letter table in memory, which outlives the stores and desks that are opened on it as a database outlives
 * processes. Each call is done at once, before it returns its promise.
 */
export class MemoryDeadLetters {
  readonly #table: LetterTable;

  /** @param now Unix milliseconds */
  constructor(now: () => number = Date.now) {
    this.#table = new LetterTable(now);
  }

  store(): DeadLetterStore {
    return {
      name: 'memory',
      claim: (fence, watermark) => done(() => this.#table.claim(fence, watermark)),
      park: (fence, key, letters, where, limits, retryAt = null) =>
        done(() =>
          this.#table.write(fence, (held) => this.#table.park(held, key, letters, where, limits, retryAt)),
        ),
      skip: (fence, letter, limits) =>
        done(() => this.#table.write(fence, (held) => this.#table.skip(held, letter, limits))),
      read: ({ pipeline, epoch }, key, limit) =>
        done(() => {
          const held = this.#table.pipelines.get(pipeline);
          if (held === undefined || held.epoch > epoch) return [];
          return waitingOf(held, key).slice(0, limit).map(toLetter);
        }),
      handled: (fence, letters) =>
        done(() => this.#table.write(fence, (held) => this.#table.handled(held, letters))),
      failed: (fence, letter, failure, retryAt) =>
        done(() => this.#table.write(fence, (held) => this.#table.failed(held, letter, failure, retryAt))),
      unpark: (fence, key) =>
        done(() =>
          this.#table.write(fence, (held) => {
            if (waitingOf(held, key).length > 0) return false;
            held.keys.delete(key);
            return true;
          }),
        ),
      released: ({ pipeline, epoch }, limit) =>
        done(() => {
          const held = this.#table.pipelines.get(pipeline);
          if (held === undefined || held.epoch > epoch) return [];
          return [...held.keys]
            .filter(([, at]) => this.#table.isDue(at))
            .sort(([, a], [, b]) => (a ?? 0) - (b ?? 0))
            .slice(0, limit)
            .map(([key]) => key);
        }),
      prune: (fence, isSettled, limit) => done(() => this.#table.prune(fence, isSettled, limit)),
      suspect: (fence, identity) =>
        done(() =>
          this.#table.write(fence, (held) => {
            held.suspect = identity;
            return 'stored';
          }),
        ),
      release: (fence) =>
        done(() => {
          this.#table.write(fence, (held) => {
            held.running = false;
            held.suspect = null;
          });
        }),
      desk: () => this.desk(),
      close: () => Promise.resolve(),
    };
  }

  desk(): DeadLetterDesk {
    return {
      list: (pipeline, filter, { after, limit }) =>
        done(() =>
          this.#table
            .fitting(pipeline, filter)
            .filter(({ id }) => id > Number(after ?? 0))
            .slice(0, limit)
            .map(toLetter),
        ),
      show: (pipeline, id) =>
        done(() => {
          const letter = byId(this.#table.pipelines.get(pipeline), id);
          return letter === undefined ? null : toLetter(letter);
        }),
      counts: (pipeline) =>
        done(() => {
          const waiting = this.#table.fitting(pipeline, { state: 'waiting' });
          return {
            keys: new Set(waiting.map(({ event }) => event.key)).size,
            waiting: waiting.length,
            skipped: this.#table.fitting(pipeline, { state: 'skipped' }).length,
          };
        }),
      retry: (pipeline, filter) => done(() => this.#table.retry(pipeline, filter)),
      skipHead: (pipeline, key, letter) =>
        done(() => {
          const held = this.#table.pipelines.get(pipeline);
          const [head] = held === undefined ? [] : waitingOf(held, key);
          if (head === undefined || (letter !== undefined && toLetter(head).id !== letter)) return null;
          head.state = 'skipped';
          held?.keys.set(key, AT_ONCE);
          return toLetter(head);
        }),
      discard: (pipeline, key) =>
        done(() => {
          const given = this.#table.fitting(pipeline, { key }).filter(isHeld);
          for (const letter of given) letter.state = 'discarded';
          const keys = this.#table.pipelines.get(pipeline)?.keys;
          if (keys?.has(key) === true) keys.set(key, AT_ONCE);
          return given.length;
        }),
      close: () => Promise.resolve(),
    };
  }
}

function done<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
