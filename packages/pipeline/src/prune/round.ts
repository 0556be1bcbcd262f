import type { HeldBack, Logger, OutboxPruner, Position, RowKey } from '@strandline/core';
import { pause } from '../pause.js';
import type { Candidates } from './candidates.js';
import type { Figures } from './figures.js';
import type { PruneConfig } from './options.js';
import { nextChunk, restAfter } from './pace.js';
import type { PartitionTries } from './partition-tries.js';
import { pauseFor } from './pauses.js';
import type { Settled } from './settled.js';

/** Milliseconds between looks at the server's load, and at whether what is to go is settled yet. */
const LOOK_EVERY = 1_000;

export interface RoundParts {
  readonly pruner: OutboxPruner;
  readonly settled: Settled;
  readonly candidates: Candidates;
  readonly tries: PartitionTries;
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
  /** Partitions are left alone in this round from now on. */
  #spared = false;
  /** A partition could not go since it was in use. */
  #partitionInUse = false;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    this.#chunk = parts.config.chunk;
  }

  /** `done` when nothing old is left; `heldBack` when somebody has not settled it within the patience, or is using it. */
  async run(): Promise<'done' | 'heldBack'> {
    const { pruner, settled, candidates, tries, figures, signal } = this.#parts;
    this.#spared = !tries.begin();
    let inUse = 0;
    while (!signal.aborted) {
      figures.become('looking', { heldBack: [], candidates: 0 });
      if (!(await this.#dropPartitions())) return 'heldBack';
      if (!this.#spared) tries.succeeded();
      const keys = await candidates.find(pruner);
      if (keys.length === 0) break;
      const end = await pruner.end();
      figures.set({ candidates: keys.length });
      if (!(await settled.until(end))) return 'heldBack';
      const gone = await this.#remove(keys, end);
      if (!gone.toTheEnd) return 'heldBack';
      // Rows that are in use for longer than a round: the next round comes back to them.
      inUse = gone.inUse;
      if (gone.removed === 0) break;
    }
    const heldBack = usedBy(inUse, this.#partitionInUse);
    figures.set({ oldest: await pruner.oldest(), candidates: inUse, heldBack });
    return heldBack.length > 0 ? 'heldBack' : 'done';
  }

  /** False when somebody holds them back. */
  async #dropPartitions(): Promise<boolean> {
    const { pruner, settled, figures, log } = this.#parts;
    if (this.#spared) return true;
    const old = await pruner.partitions();
    if (old.length === 0) return true;
    const whole = old.filter(({ setAside }) => !setAside);
    if (whole.length > 0) {
      // Before, too: who is still to read the rows of the table itself must find them there.
      const end = await pruner.end();
      if (!(await settled.until(end))) return false;
      for (const partition of whole) {
        if (!(await this.#ready(end, true))) return false;
        if ((await pruner.setAside(partition)) === 'locked') return this.#spare();
      }
    }
    const aside = (await pruner.partitions()).filter(({ setAside }) => setAside);
    if (aside.length === 0) return true;
    const end = await pruner.end();
    if (!(await settled.until(end))) return false;
    for (const partition of aside) {
      if (!(await this.#ready(end, true))) return false;
      if ((await pruner.drop(partition)) === 'locked') return this.#spare();
      figures.dropped();
      log.info({ outbox: pruner.outbox, partition: partition.name }, 'dropped a partition that is settled');
    }
    return true;
  }

  /** The writers that waited behind one try are let go on: the others would be in use as well. Resolves with true. */
  #spare(): true {
    this.#locked();
    this.#parts.tries.locked();
    this.#spared = true;
    this.#partitionInUse = true;
    return true;
  }

  /** Deletes rows that are settled, chunk by chunk. */
  async #remove(keys: readonly RowKey[], end: Position): Promise<Removed> {
    const { pruner, config, figures, signal } = this.#parts;
    let removed = 0;
    let inUse = 0;
    for (let at = 0; at < keys.length;) {
      if (!(await this.#ready(end))) {
        figures.pause(null);
        return { removed, inUse, toTheEnd: false };
      }
      figures.become('deleting');
      const chunk = keys.slice(at, at + this.#chunk);
      const began = performance.now();
      const result = await pruner.remove(chunk);
      const took = performance.now() - began;
      if (result === 'locked') {
        this.#locked();
        if (chunk.length === 1) {
          at += 1;
          inUse += 1;
        }
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
    return { removed, inUse, toTheEnd: true };
  }

  /**
   * Waits until the server has room for another chunk; false when what is to go is not settled any more, or it has to
   * stop. It is asked about once a second, unless `afresh`: then it is asked now, and so are pipelines that are new. They
   * are after a pause, too, which can have been of hours.
   */
  async #ready(end: Position, afresh = false): Promise<boolean> {
    const { pruner, settled, config, figures, signal } = this.#parts;
    for (let anew = afresh; !signal.aborted; anew = true) {
      if (!anew && performance.now() - this.#lookedAt < LOOK_EVERY) return true;
      if (!(await settled.still(end, anew))) return false;
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

interface Removed {
  readonly removed: number;
  /** Rows that were left since they were in use. */
  readonly inUse: number;
  /** False when what is to go is not settled any more, or it has to stop. */
  readonly toTheEnd: boolean;
}

/** What the sessions of others have kept from going. */
function usedBy(rows: number, partition: boolean): readonly HeldBack[] {
  const held = (why: string): HeldBack => ({ who: 'another session', at: null, why });
  return [
    ...(rows > 0 ? [held(`it uses rows that are to go: ${String(rows)}`)] : []),
    ...(partition ? [held('it uses the table, of which a partition is to go')] : []),
  ];
}
