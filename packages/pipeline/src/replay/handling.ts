import {
  OwnershipLostError,
  StrandlineError,
  type HandlerContext,
  type Logger,
  type OutboxEvent,
  type Position,
  type Strand,
} from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from '../config.js';
import { errorFields } from '../error-fields.js';
import { pipelineError } from '../errors.js';
import { Run } from '../run.js';
import type { ReplayRequest } from './options.js';
import type { ReplayStream } from './replay-stream.js';
import type { Tally } from './tally.js';
import type { ReplayWork } from './work.js';

export interface HandlingOptions {
  /** Of the live pipeline. */
  readonly config: PipelineConfig;
  readonly request: ReplayRequest;
  readonly stream: ReplayStream;
  readonly tally: Tally;
  readonly log: Logger;
}

/**
 * Handles events again, by the machinery of a live run: ordered per key, in parallel, with retries and commits. Nothing is
 * parked: the live pipeline's dead letters are its own. The first event that fails for good stops it.
 */
export class Handling implements ReplayWork {
  readonly #options: HandlingOptions;
  readonly #run: Run;
  #retries = 0;

  constructor(options: HandlingOptions) {
    this.#options = options;
    const { config, request, stream, log } = options;
    this.#run = new Run({
      config: {
        ...config,
        name: request.name,
        handle: this.#counted(),
        deadLetters: undefined,
        onFailure: 'halt',
        overflow: 'pause',
      },
      stream,
      claimed: null,
      log,
      replay: { of: config.name, failed: (strand, error) => this.#failed(strand, error) },
    });
  }

  async run(): Promise<void> {
    try {
      await this.#run.run();
    } catch (error) {
      throw error instanceof OwnershipLostError ? this.#taken(error) : error;
    }
    if (this.isDone) await this.#forget();
  }

  stop(): void {
    this.#run.stop();
  }

  get isDone(): boolean {
    return this.#options.stream.isDone;
  }

  get position(): Position {
    return this.#run.executor.watermark;
  }

  get skipped(): number {
    return this.#options.stream.part.skipped;
  }

  get retries(): number {
    return this.#retries;
  }

  get insideHandler(): boolean {
    return this.#run.insideHandler;
  }

  /** The handler, with what it handles counted. */
  #counted(): Handler | BatchHandler {
    const { config, request, tally } = this.#options;
    if (config.batch === undefined) {
      const handle = request.handle as Handler;
      return async (event: OutboxEvent, ctx: HandlerContext) => {
        if (ctx.attempt > 1) this.#retries += 1;
        await handle(event, ctx);
        tally.add(event);
      };
    }
    const handle = request.handle as BatchHandler;
    return async (events: readonly OutboxEvent[], ctx: HandlerContext) => {
      if (ctx.attempt > 1) this.#retries += 1;
      await handle(events, ctx);
      for (const event of events) tally.add(event);
    };
  }

  /** It is over: the next replay of this name is a new one. */
  async #forget(): Promise<void> {
    const { config, request, stream, log } = this.#options;
    try {
      const saved = await config.offsets.load(request.name);
      // Of another epoch it would be another process's, which has gone on with the same.
      if (saved?.epoch === stream.offset.epoch) await config.offsets.replace(request.name, saved, null);
    } catch (error) {
      if (!(error instanceof StrandlineError)) throw error;
      log.warn(
        { err: errorFields(error) },
        'the offset of the finished replay is still there: the same replay, asked for again, ends at once and removes it',
      );
    }
  }

  #failed({ key, attempt, head }: Strand, cause: unknown): Error {
    const { position, id } = head.event;
    this.#options.log.error(
      { key, position, attempt, err: errorFields(cause) },
      'handler failed for good: the replay stops',
    );
    return pipelineError(
      'REPLAY_FAILED',
      `The handler failed for good for event ${id}, after ${String(attempt)} ${attempt === 1 ? 'call' : 'calls'}: ${describe(cause)}.`,
      'The replay has stopped there. Correct the cause and start the same replay again: it goes on with this event.',
      { cause, key, position },
    );
  }

  #taken(cause: OwnershipLostError): Error {
    return pipelineError(
      'REPLAY_TAKEN',
      `Another process has gone on with the replay ${this.#options.request.name}.`,
      'Nothing is lost: look there.',
      { cause },
    );
  }
}

/** An error of a handler by its name alone: its message may hold a payload, and is in the log. */
function describe(error: unknown): string {
  return error instanceof Error ? error.name : `a value that is no error was thrown (${typeof error})`;
}
