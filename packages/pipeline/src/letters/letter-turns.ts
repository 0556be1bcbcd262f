import { nextDelay, type DeadLetter, type Failure, type Logger } from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from '../config.js';
import type { Doubt } from '../doubt.js';
import { errorFields } from '../error-fields.js';
import { HandlerTimeoutError } from '../errors.js';
import { TurnContext } from '../handler-context.js';
import { NOT_CALLED } from '../not-called.js';
import { letterError } from './letter-error.js';
import { pause } from '../pause.js';
import type { Suspects } from './suspects.js';
import type { Term } from '../term.js';

export interface LetterTurnsOptions {
  readonly config: PipelineConfig;
  readonly suspects: Suspects;
  readonly term: Term;
  readonly doubt: Doubt;
  readonly log: Logger;
  /** Whether operators let a handler of the key be called. */
  readonly mayRun: (key: string) => boolean;
  /** Aborts when no further attempt may start. */
  readonly closing: AbortSignal;
}

/** Calls the pipeline's own handler for letters, with its retry policy and its time-out: a letter a call. */
export class LetterTurns {
  readonly #options: LetterTurnsOptions;
  readonly #inFlight = new Set<TurnContext>();

  constructor(options: LetterTurnsOptions) {
    this.#options = options;
  }

  /** Aborts the signals of all turns in flight. */
  abort(reason: unknown): void {
    for (const ctx of this.#inFlight) ctx.abort(reason);
  }

  /** Calls the handler until it succeeds (null), no retry can help, or the pipeline or its key is stopped. */
  async run(letter: DeadLetter): Promise<Failure | 'stopped' | null> {
    const { config, term, log, closing } = this.#options;
    const { key, position } = letter.event;
    const before = letter.failure?.attempts ?? 0;
    let firstFailedAt = '';
    /** By the clock that nobody sets. */
    let failingSince = NaN;
    for (let attempt = 1; ; attempt += 1) {
      await this.#options.doubt.over(closing);
      if (closing.aborted || !this.#options.mayRun(key)) return 'stopped';
      const ctx = new TurnContext(letter.event, attempt, term);
      try {
        return (await this.#call(letter, ctx)) === NOT_CALLED ? 'stopped' : null;
      } catch (error) {
        const failedAt = new Date(Date.now()).toISOString();
        const now = performance.now();
        if (Number.isNaN(failingSince)) [firstFailedAt, failingSince] = [failedAt, now];
        const delay = nextDelay(config.retry, attempt, now - failingSince, error, Math.random());
        if (delay === null) {
          return {
            error: letterError(error),
            attempts: before + attempt,
            firstFailedAt: letter.failure?.firstFailedAt ?? firstFailedAt,
            lastFailedAt: failedAt,
          };
        }
        log.warn({ key, position, attempt, err: errorFields(error) }, 'handler failed: trying again');
        await pause(Math.max(delay, ctx.notBefore), closing);
      }
    }
  }

  async #call(letter: DeadLetter, ctx: TurnContext): Promise<unknown> {
    const { config, suspects } = this.#options;
    const { event } = letter;
    this.#inFlight.add(ctx);
    const timer = this.#limit(letter, ctx);
    try {
      const call = (): unknown =>
        config.batch === undefined
          ? (config.handle as Handler)(event, ctx)
          : (config.handle as BatchHandler)([event], ctx);
      return await (letter.reason === 'crash' ? suspects.alone(event, call) : call());
    } finally {
      clearTimeout(timer);
      this.#inFlight.delete(ctx);
    }
  }

  #limit({ event }: DeadLetter, ctx: TurnContext): NodeJS.Timeout | undefined {
    const { handlerTimeout } = this.#options.config;
    if (handlerTimeout === Infinity) return undefined;
    return setTimeout(() => {
      const { key, position, id } = event;
      this.#options.log.warn(
        { key, position, id, handlerTimeout },
        'handler takes too long: its signal is aborted, and its key waits until it has ended',
      );
      ctx.abort(new HandlerTimeoutError(handlerTimeout));
    }, handlerTimeout);
  }
}
