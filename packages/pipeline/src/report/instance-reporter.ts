import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { InstanceRegister, InstanceReport, Logger } from '@strandline/core';
import { errorFields } from '../error-fields.js';
import { within } from '../within.js';

/** Milliseconds between reports. */
const EVERY = 1_000;
/** Milliseconds after which a process is forgotten that reports no more: a few reports may be missing. */
const FORGOTTEN_AFTER = 5_000;
/** … and one that has failed, so that somebody sees it. */
const FAILURE_FORGOTTEN_AFTER = 60_000;
/** Milliseconds that the last word may take: a store that is away must not hold up the end. */
const LAST_WORD = 1_000;

/** What changes from one report to the next. */
export type InstanceView = Pick<InstanceReport, 'state' | 'epoch' | 'details'>;

export interface InstanceReporterOptions {
  readonly register: InstanceRegister;
  readonly pipeline: string;
  readonly log: Logger;
  readonly look: () => InstanceView;
}

/**
 * Tells the offset store about once a second that this process is there, and how it is. One report at a time; one that
 * fails is missing, and nothing else follows from it.
 */
export class InstanceReporter {
  readonly #options: InstanceReporterOptions;
  readonly #id = randomUUID();
  readonly #startedAt = new Date().toISOString();
  #timer: NodeJS.Timeout | undefined;
  #pending: Promise<void> | null = null;
  /** Something has changed while a report was under way. */
  #again = false;
  #ended = false;
  #arrived = false;
  /** The last one did not arrive. */
  #isMissing = false;

  constructor(options: InstanceReporterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      if (this.#pending === null) this.#report();
    }, EVERY).unref();
    this.#report();
  }

  /** Whether the offset store takes what this process reports, as far as is known: a standby has no other word from it. */
  get isHeard(): boolean {
    return !this.#isMissing;
  }

  /** Does not wait for the next report. */
  changed(): void {
    if (this.#timer === undefined || this.#ended) return;
    if (this.#pending === null) this.#report();
    else this.#again = true;
  }

  /**
   * The last word: that it has left, or what it has failed with. It comes after every report that is under way, which
   * would make it come back. Skipped where the report before did not arrive.
   */
  async end(how: 'left' | 'failed'): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    await within(LAST_WORD, this.#lastWord(how));
  }

  async #lastWord(how: 'left' | 'failed'): Promise<void> {
    await this.#pending;
    if (!this.#arrived) return;
    const { register, pipeline, log } = this.#options;
    if (how === 'failed') {
      await this.#send(FAILURE_FORGOTTEN_AFTER);
      return;
    }
    await register.leave(pipeline, this.#id).catch((error: unknown) => {
      log.debug(
        { err: errorFields(error) },
        'that this process has left can not be told: it is forgotten soon',
      );
    });
  }

  #report(): void {
    this.#again = false;
    this.#pending = this.#send(FORGOTTEN_AFTER).finally(() => {
      this.#pending = null;
      if (this.#again && !this.#ended) this.#report();
    });
  }

  async #send(ttl: number): Promise<void> {
    const { register, pipeline, log, look } = this.#options;
    try {
      await register.report(
        pipeline,
        {
          id: this.#id,
          host: hostname(),
          pid: process.pid,
          startedAt: this.#startedAt,
          reportedAt: new Date().toISOString(),
          ...look(),
        },
        ttl,
      );
      this.#arrived = true;
      this.#isMissing = false;
    } catch (error) {
      this.#arrived = false;
      this.#isMissing = true;
      log.debug({ err: errorFields(error) }, 'the report of this process is missing in the offset store');
    }
  }
}
