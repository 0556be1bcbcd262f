import {
  nextDelay,
  shortError,
  withAttempt,
  type DeadLetter,
  type Failure,
  type Logger,
} from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from '../config.js';
import type { Doubt } from '../doubt.js';
import { errorFields } from '../error-fields.js';
import { HandlerTimeoutError } from '../errors.js';
import { tell } from '../events/channels.js';
import { TurnWatch } from '../events/turn-watch.js';
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
  /** Those that take longer than `handlerTimeout`. */
  readonly #stuck = new Set<TurnContext>();
  readonly #watch: TurnWatch;

  constructor(options: LetterTurnsOptions) {
    this.#options = options;
    this.#watch = new TurnWatch(options.term, 'letter');
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
    let history = letter.failure?.history ?? [];
    let firstFailedAt = '';
    /** By the clock that nobody sets. */
    let failingSince = NaN;
    for (let attempt = 1; ; attempt += 1) {
      await this.#options.doubt.over(closing);
      if (closing.aborted || !this.#options.mayRun(key)) return 'stopped';
      const ctx = new TurnContext(letter.event, attempt, term);
      try {
        const called = (await this.#call(letter, ctx)) !== NOT_CALLED;
        ctx.watched?.end(called ? 'settled' : 'put-back', null);
        return called ? null : 'stopped';
      } catch (error) {
        const failedAt = new Date(Date.now()).toISOString();
        const now = performance.now();
        history = withAttempt(history, before + attempt, failedAt, shortError(error));
        if (Number.isNaN(failingSince)) [firstFailedAt, failingSince] = [failedAt, now];
        const delay = nextDelay(config.retry, attempt, now - failingSince, error, Math.random());
        if (delay === null) {
          term.ledger.exhausted += 1;
          ctx.watched?.end('exhausted', error);
          return {
            error: letterError(error),
            attempts: before + attempt,
            firstFailedAt: letter.failure?.firstFailedAt ?? firstFailedAt,
            lastFailedAt: failedAt,
            history,
          };
        }
        term.ledger.retries += 1;
        ctx.watched?.end('retry', error);
        log.warn({ key, position, attempt, err: errorFields(error) }, 'handler failed: trying again');
        await pause(Math.max(delay, ctx.notBefore), closing);
      }
    }
  }

  async #call(letter: DeadLetter, ctx: TurnContext): Promise<unknown> {
    const { config, suspects, term } = this.#options;
    const { event } = letter;
    const batch = config.batch === undefined ? null : [event];
    this.#inFlight.add(ctx);
    const timer = this.#limit(letter, ctx);
    const watched = this.#watch.begin(event, ctx.attempt, batch, Date.now());
    ctx.watched = watched;
    try {
      const handle = (): unknown =>
        batch === null ? (config.handle as Handler)(event, ctx) : (config.handle as BatchHandler)(batch, ctx);
      const call = watched === null ? handle : () => watched.run(handle);
      return await (letter.reason === 'crash' ? suspects.alone(event, call) : call());
    } finally {
      clearTimeout(timer);
      this.#inFlight.delete(ctx);
      const { key, position, id } = event;
      const { attempt } = ctx;
      if (this.#stuck.delete(ctx))
        tell('strandline:stuck:end', () => ({ ...term.whose, key, id, position, attempt }));
    }
  }

  #limit({ event }: DeadLetter, ctx: TurnContext): NodeJS.Timeout | undefined {
    const { config, term, log } = this.#options;
    const { handlerTimeout } = config;
    if (handlerTimeout === Infinity) return undefined;
    return setTimeout(() => {
      const { key, position, id } = event;
      const { attempt } = ctx;
      term.ledger.timeouts += 1;
      this.#stuck.add(ctx);
      tell('strandline:stuck:begin', () => ({ ...term.whose, key, id, position, attempt }));
      log.warn(
        { key, position, id, handlerTimeout },
        'handler takes too long: its signal is aborted, and its key waits until it has ended',
      );
      ctx.abort(new HandlerTimeoutError(handlerTimeout));
    }, handlerTimeout);
  }
}
