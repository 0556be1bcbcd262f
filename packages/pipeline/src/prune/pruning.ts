import {
  StrandlineError,
  withoutCredentials,
  type Logger,
  type OffsetStore,
  type OutboxPruner,
  type Source,
} from '@strandline/core';
import { errorFields } from '../error-fields.js';
import { pipelineError } from '../errors.js';
import { pause } from '../pause.js';
import { within } from '../within.js';
import { Candidates } from './candidates.js';
import { Figures, type PruneFigures } from './figures.js';
import type { PruneConfig } from './options.js';
import { PartitionTries } from './partition-tries.js';
import { Register } from './register.js';
import { Round } from './round.js';
import { Settled } from './settled.js';

/** Milliseconds that the pipeline waits for it at its end: what it is at is cut off, and nothing is lost with it. */
const GRACE = 2_000;

export interface PruningParts {
  readonly pipeline: string;
  readonly source: Source;
  readonly offsets: OffsetStore;
  readonly config: PruneConfig;
  readonly log: Logger;
  /** A round looks at all of the table, and not at a stretch of it. */
  readonly thorough?: boolean;
}

export type PruneOutcome = 'done' | 'heldBack' | 'elsewhere';

/**
 * The pruner of a pipeline: round after round while the pipeline owns its log. What goes wrong is logged, is in the figures,
 * and is tried again at the next round; the pipeline does not notice. Start and stop are idempotent.
 */
export class Pruning {
  readonly #parts: PruningParts;
  readonly #figures = new Figures();
  readonly #candidates: Candidates;
  readonly #tries = new PartitionTries();
  /** Pipelines that must have settled, whatever the store knows of. */
  readonly #names: readonly string[];
  readonly #register: Register;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(parts: PruningParts) {
    this.#parts = parts;
    this.#candidates = new Candidates(parts.thorough);
    this.#names = [...new Set([parts.pipeline, ...parts.config.pipelines])];
    this.#register = new Register(parts.offsets, this.#names);
  }

  get figures(): PruneFigures {
    return this.#figures.now;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#running !== null) await within(GRACE, this.#running);
    if (this.#figures.now.state !== 'failed') this.#figures.become('idle', { paused: null });
  }

  /**
   * One round. Rejects with what went wrong, in the figures too.
   *
   * @param patience milliseconds to wait for who has not settled what is to go
   */
  async round(patience: number, signal: AbortSignal = this.#stopping.signal): Promise<PruneOutcome> {
    try {
      const outcome = await this.#round(patience, signal);
      const state = outcome === 'elsewhere' ? 'elsewhere' : 'idle';
      this.#figures.become(state, { error: null, paused: null, finishedAt: new Date().toISOString() });
      return outcome;
    } catch (error) {
      if (!signal.aborted) this.#figures.become('failed', { error: shown(error), paused: null });
      throw error;
    }
  }

  /** What a round would delete. */
  async survey(patience: number, signal: AbortSignal): Promise<PruneSurvey> {
    const pruner = await this.#open(signal, true);
    if (pruner === null) return { rows: 0, partitions: [] };
    try {
      const { old, oldest } = await pruner.survey();
      const partitions = (await pruner.partitions()).map(({ name }) => name);
      this.#figures.become('looking', { outbox: pruner.outbox, oldest, candidates: old });
      await this.#settled(pruner, patience, signal).until(await pruner.end());
      this.#figures.become('idle');
      return { rows: old, partitions };
    } finally {
      await pruner[Symbol.asyncDispose]();
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { config, log } = this.#parts;
    let told: string | null = null;
    while (!signal.aborted) {
      try {
        await this.round(Infinity);
        told = null;
      } catch (error) {
        if (this.#isStopping()) return;
        // Once for each that is new: it comes again each round.
        const text = String(error);
        if (text !== told)
          log.warn({ err: errorFields(error) }, 'the outbox can not be pruned: trying again');
        told = text;
      }
      await pause(config.every, signal);
    }
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #round(patience: number, signal: AbortSignal): Promise<PruneOutcome> {
    const { config, log } = this.#parts;
    this.#figures.become('looking');
    const pruner = await this.#open(signal, false);
    if (pruner === null) return 'elsewhere';
    const figures = this.#figures;
    const before = figures.now.rowsDeleted;
    try {
      signal.throwIfAborted();
      figures.set({ outbox: pruner.outbox });
      const settled = this.#settled(pruner, patience, signal);
      return await new Round({
        ...{ pruner, settled, config, figures, signal, log },
        candidates: this.#candidates,
        tries: this.#tries,
      }).run();
    } finally {
      const rows = figures.now.rowsDeleted - before;
      if (rows > 0) log.debug({ outbox: pruner.outbox, rows }, 'pruned the outbox');
      await pruner[Symbol.asyncDispose]();
    }
  }

  async #open(signal: AbortSignal, dryRun: boolean): Promise<OutboxPruner | null> {
    const { source, pipeline, config, log } = this.#parts;
    if (source.pruner === undefined) {
      throw pipelineError(
        'PIPELINE_CONFIG',
        `The source ${source.name} can't delete rows of its outbox.`,
        'Leave prune out.',
      );
    }
    const { keep, createdAt, ignoreSlots, replicas } = config;
    return source.pruner({ pipeline, signal, log, keep, createdAt, ignoreSlots, replicas, dryRun });
  }

  #settled(pruner: OutboxPruner, patience: number, signal: AbortSignal): Settled {
    const parts = { register: this.#register, names: this.#names, figures: this.#figures };
    return new Settled({ ...parts, pruner, patience, signal });
  }
}

/** What a round would delete if nobody held it back. */
export interface PruneSurvey {
  readonly rows: number;
  /** Those that would go as a whole. */
  readonly partitions: readonly string[];
}

function shown(error: unknown): NonNullable<PruneFigures['error']> {
  const message = withoutCredentials(error instanceof Error ? error.message : String(error));
  return { code: error instanceof StrandlineError ? String(error.code) : null, message };
}
