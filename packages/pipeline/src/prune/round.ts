import type { Logger, OutboxPruner, Position, RowKey } from '@strandline/core';
import { pause } from '../pause.js';
import type { Candidates } from './candidates.js';
import type { Figures } from './figures.js';
import type { PruneConfig } from './options.js';
import { nextChunk, restAfter } from './pace.js';
import { pauseFor } from './pauses.js';
import type { Settled } from './settled.js';

/** Milliseconds between looks at the server's load, and at whether what is to go is settled yet. */
const LOOK_EVERY = 1_000;

export interface RoundParts {
  readonly pruner: OutboxPruner;
  readonly settled: Settled;
  readonly candidates: Candidates;
  readonly config: PruneConfig;
  readonly figures: Figures;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Works off what is old, over one session. The order is the proof: look for rows, *then* ask where the log ends, wait until
 * everybody has settled what lies before, and delete those rows and no others. What was visible to the look had committed
 * before that end. What was not, be its id and its time as small as they like, is not among the rows.
 */
export class Round {
  readonly #parts: RoundParts;
  #chunk: number;
  #lookedAt = -Infinity;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    this.#chunk = parts.config.chunk;
  }

  /** `done` when nothing old is left; `heldBack` when somebody has not settled it within the patience. */
  async run(): Promise<'done' | 'heldBack'> {
    const { pruner, settled, candidates, figures, signal } = this.#parts;
    while (!signal.aborted) {
      figures.become('looking', { heldBack: [], candidates: 0 });
      if (!(await this.#dropPartitions())) return 'heldBack';
      const keys = await candidates.find(pruner);
      if (keys.length === 0) break;
      const end = await pruner.end();
      figures.set({ candidates: keys.length });
      if (!(await settled.until(end))) return 'heldBack';
      // Rows that are in use for longer than a round: the next round comes back to them.
      if ((await this.#remove(keys, end)) === 0) break;
    }
    figures.set({ oldest: await pruner.oldest(), candidates: 0 });
    return 'done';
  }

  /** Whether all that stood aside is gone. */
  async #dropPartitions(): Promise<boolean> {
    const { pruner, settled, figures, log } = this.#parts;
    const old = await pruner.partitions();
    if (old.length === 0) return true;
    const whole = old.filter(({ setAside }) => !setAside);
    if (whole.length > 0) {
      // Before, too: who is still to read the rows of the table itself must find them there.
      const end = await pruner.end();
      if (!(await settled.until(end))) return false;
      for (const partition of whole) {
        if (!(await this.#ready(end))) return false;
        if ((await pruner.setAside(partition)) === 'locked') this.#locked();
      }
    }
    const aside = (await pruner.partitions()).filter(({ setAside }) => setAside);
    if (aside.length === 0) return true;
    const end = await pruner.end();
    if (!(await settled.until(end))) return false;
    for (const partition of aside) {
      if (!(await this.#ready(end))) return false;
      if ((await pruner.drop(partition)) === 'locked') {
        this.#locked();
        continue;
      }
      figures.dropped();
      log.info({ outbox: pruner.outbox, partition: partition.name }, 'dropped a partition that is settled');
    }
    return true;
  }

  /** Deletes rows that are settled, chunk by chunk; resolves with how many. */
  async #remove(keys: readonly RowKey[], end: Position): Promise<number> {
    const { pruner, config, figures, signal } = this.#parts;
    let removed = 0;
    for (let at = 0; at < keys.length;) {
      if (!(await this.#ready(end))) break;
      figures.become('deleting');
      const chunk = keys.slice(at, at + this.#chunk);
      const began = performance.now();
      const result = await pruner.remove(chunk);
      const took = performance.now() - began;
      if (result === 'locked') {
        this.#locked();
        if (chunk.length === 1) at += 1;
        this.#chunk = Math.max(1, Math.floor(chunk.length / 2));
      } else {
        removed += result;
        at += chunk.length;
        figures.deleted(result);
        figures.set({ candidates: keys.length - at });
        this.#chunk = nextChunk(this.#chunk, took, config);
      }
      await pause(restAfter(took, config.duty), signal);
    }
    figures.pause(null);
    return removed;
  }

  /**
   * Waits until the server has room for another chunk; false when what is to go is not settled any more, or it has to
   * stop. It is asked about once a second.
   */
  async #ready(end: Position): Promise<boolean> {
    const { pruner, settled, config, figures, signal } = this.#parts;
    while (!signal.aborted) {
      if (performance.now() - this.#lookedAt < LOOK_EVERY) return true;
      if (!(await settled.still(end))) return false;
      const paused = pauseFor(await pruner.load(), config);
      figures.pause(paused);
      if (paused === null) {
        this.#lookedAt = performance.now();
        return true;
      }
      await pause(LOOK_EVERY, signal);
    }
    return false;
  }

  #locked(): void {
    this.#parts.figures.pause({ kind: 'locked', why: 'rows, or the table, are in use' });
  }
}
