import type { Executor, LetterResult, Logger, Strand, StrandState } from '@strandline/core';
import { pipelineError, type PipelineError } from '../errors.js';
import type { LetterRoom } from '../letters/letter-room.js';
import type { Happenings } from './happenings.js';
import type { StandingOrders } from './standing-orders.js';

/** Milliseconds that are waited for a turn to end, and then for the dead-letter table. */
const PATIENCE = 5_000;

export interface InterventionOptions {
  /**
   * Milliseconds to wait for the key's handler to end, when it runs, and for the dead-letter table; meanwhile the key
   * starts no further turn. Default 5,000.
   */
  readonly wait?: number;
  /** The position of the head that is meant: when it is another one by now, nothing is done. */
  readonly position?: string;
}

/** What was done to a key. */
export interface Intervention {
  readonly key: string;
  /** Where the head lies that it was done to. */
  readonly position: string;
  /** `under way`: the dead-letter table has not answered yet; it is done when it does, and the key holds meanwhile. */
  readonly outcome: 'done' | 'under way';
}

export interface InterventionsOptions {
  readonly executor: Executor;
  readonly letters: LetterRoom | null;
  readonly orders: StandingOrders | null;
  readonly happenings: Happenings;
  readonly log: Logger;
  /** Keys may go on. */
  readonly changed: () => void;
}

/** Why a key in this state is not retried. */
const NOT_RETRIED: Readonly<Record<Exclude<StrandState, 'backoff' | 'halted'>, readonly [string, string]>> = {
  ready: ['waits for its turn already', 'There is nothing to retry.'],
  running: ['has its handler running', 'Wait until it has ended.'],
  stuck: ['has a handler running that takes too long', 'It has to end first: see that it heeds ctx.signal.'],
  exhausted: ['is being stored in the dead-letter table', 'Look at that table, and retry its letters.'],
  held: ['is held', 'Release it: its head is tried at once then.'],
};

/**
 * What an operator does to a live key in the owner's process: its head is tried at once, stored in the dead-letter
 * table by itself, or with all that follows of the key. Nothing is done to an event whose handler runs.
 */
export class Interventions {
  readonly #options: InterventionsOptions;
  /** Called when a turn has ended, or the run ends. */
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor(options: InterventionsOptions) {
    this.#options = options;
  }

  /** A head in backoff is tried at once, a halted one anew with all its attempts. */
  retry(key: string, { position }: InterventionOptions = {}): Intervention {
    const { executor, letters, happenings, log, changed } = this.#options;
    const strand = this.#strandOf(key, position);
    const { attempt } = strand;
    const head = strand.head.event.position;
    if (executor.isHeld(key)) throw notRetried(key, 'held');
    if (strand.state === 'halted') {
      if (letters?.restore(strand) === false)
        throw wrongState(key, 'is stored in part', 'Park it: the rest is stored when the table has room.');
      executor.tryAfresh(strand);
    } else if (!executor.tryNow(strand)) {
      throw notRetried(key, strand.state as keyof typeof NOT_RETRIED);
    }
    happenings.add(key, { what: 'retried', position: head, attempt });
    log.info({ key, position: head, attempt }, 'an operator has the head of this key tried now');
    changed();
    return { key, position: head, outcome: 'done' };
  }

  /** The head, and all that follows of the key, goes to the dead-letter table, in order, and waits there. */
  park(key: string, options: InterventionOptions = {}): Promise<Intervention> {
    return this.#giveUp(key, 'park', options);
  }

  /** The head alone goes to the dead-letter table, and the key goes on. */
  skip(key: string, options: InterventionOptions = {}): Promise<Intervention> {
    return this.#giveUp(key, 'skip', options);
  }

  /** A turn may have ended. */
  look(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  close(): void {
    this.#closed = true;
    this.look();
  }

  async #giveUp(key: string, how: 'park' | 'skip', options: InterventionOptions): Promise<Intervention> {
    const { letters, orders } = this.#options;
    if (letters === null) throw noLetters(key, how);
    const { wait = PATIENCE } = options;
    const deadline = performance.now() + wait;
    const asked = this.#strandOf(key, options.position);
    // Of a key that runs it is the event in flight that somebody has seen fail, and not the one behind it.
    const meant = how === 'skip' ? asked.head.event.position : options.position;
    const letGo = orders?.stand(key);
    let stored: Promise<LetterResult | null>;
    let position: string;
    try {
      await this.#untilAtRest(key, deadline);
      const strand = this.#strandOf(key, meant);
      position = strand.head.event.position;
      if (strand.state === 'exhausted') throw notRetried(key, 'exhausted');
      if (how === 'skip' && strand.state === 'halted' && !letters.restore(strand))
        throw wrongState(key, 'is stored in part', 'Park it: the rest is stored when the table has room.');
      stored = letters.byHand(strand, how);
    } finally {
      letGo?.();
    }
    const result = await before(deadline, stored);
    if (result === 'full') throw noRoom(key, position);
    return { key, position, outcome: result === 'stored' ? 'done' : 'under way' };
  }

  /** Resolves once no handler of the key runs. Throws `PIPELINE_KEY_BUSY` when that takes too long. */
  async #untilAtRest(key: string, deadline: number): Promise<void> {
    const { executor } = this.#options;
    for (;;) {
      const state = executor.strandOf(key)?.state;
      if (state !== 'running' && state !== 'stuck') return;
      const left = deadline - performance.now();
      if (left <= 0 || this.#closed) throw busy(key);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Throws `PIPELINE_KEY_UNKNOWN` and `PIPELINE_KEY_STATE`. */
  #strandOf(key: string, position: string | undefined): Strand {
    const { executor } = this.#options;
    const strand = executor.strandOf(key);
    if (strand === undefined && executor.isParked(key))
      throw wrongState(
        key,
        'is parked',
        'Its events are in the dead-letter table: retry, skip or discard there.',
      );
    if (strand === undefined || (position !== undefined && strand.head.event.position !== position))
      throw unknownEvent(key, position);
    return strand;
  }
}

/** The answer, or undefined when it takes longer. */
async function before<T>(deadline: number, answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, deadline - performance.now()), undefined);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function named(key: string): string {
  return `The key ${JSON.stringify(key.slice(0, 200))}`;
}

export function unknownEvent(key: string, position?: string): PipelineError {
  const what = position === undefined ? 'no live events here' : 'another event at its head, or none';
  return pipelineError(
    'PIPELINE_KEY_UNKNOWN',
    `${named(key)} has ${what}.`,
    'What it had is handled, or the log has not brought it yet: look again.',
    { key, position },
  );
}

function wrongState(key: string, problem: string, remedy: string): PipelineError {
  return pipelineError('PIPELINE_KEY_STATE', `${named(key)} ${problem}.`, remedy, { key });
}

function notRetried(key: string, state: keyof typeof NOT_RETRIED): PipelineError {
  const [problem, remedy] = NOT_RETRIED[state];
  return wrongState(key, problem, remedy);
}

function busy(key: string): PipelineError {
  return pipelineError(
    'PIPELINE_KEY_BUSY',
    `${named(key)} has a handler running that has not ended in time. Nothing was changed.`,
    'Hold the key, so that it starts nothing more, and ask again when its handler has ended.',
    { key, transient: true },
  );
}

function noLetters(key: string, how: 'park' | 'skip'): PipelineError {
  return pipelineError(
    'PIPELINE_NO_LETTERS',
    `${named(key)} can't be ${how === 'park' ? 'parked' : 'skipped'}: without a dead-letter table the event would be lost.`,
    'Hold the key, or give the pipeline deadLetters and restart it.',
    { key },
  );
}

function noRoom(key: string, position: string): PipelineError {
  return pipelineError(
    'PIPELINE_LETTERS_FULL',
    `The dead-letter table has no room for ${JSON.stringify(key.slice(0, 200))}, or does not take the event.`,
    'Release or discard letters, or raise parking.limits. The event waits in the pipeline as before.',
    { key, position },
  );
}
