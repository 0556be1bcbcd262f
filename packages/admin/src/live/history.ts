import type { Logger } from '@strandline/core';
import { listen, type Pipeline, type Timing } from '@strandline/pipeline';
import { Latencies, type Quantiles } from './latencies.js';

/** Milliseconds between samples, and how many are kept: a quarter of an hour, some 200 kB a pipeline. */
const EVERY = 1_000;
const KEPT = 900;

/** How a pipeline did in one second. What is not known is null. */
export interface Sample {
  /** When that second ended, in milliseconds since 1970. */
  readonly at: number;
  /** Events a second: brought by the log and new, settled, and turns that failed and are tried again. */
  readonly admitted: number;
  readonly settled: number;
  readonly retries: number;
  /** Events that are here and not settled, and how much of the window they take, 0 to 1. */
  readonly unsettled: number;
  readonly window: number;
  /** Bytes of log that were not read yet. */
  readonly lagBytes: number | null;
  /** Seconds since the oldest unsettled event was committed. */
  readonly oldestAge: number | null;
  /** Seconds from commit to handler, and of the handler's run, of the turns of this second that were timed. */
  readonly sinceCommit: Quantiles | null;
  readonly handler: Quantiles | null;
}

export type Sampled = Pick<Pipeline, 'name' | 'details' | 'totals' | 'status'>;

interface Counted {
  readonly at: number;
  readonly admitted: number;
  readonly settled: number;
  readonly retries: number;
}

/** The last quarter of an hour of one pipeline. */
class PipelineHistory {
  readonly samples: Sample[] = [];
  readonly sinceCommit = new Latencies();
  readonly handler = new Latencies();
  readonly #pipeline: Sampled;
  #before: Counted;

  constructor(pipeline: Sampled) {
    this.#pipeline = pipeline;
    this.#before = this.#count();
  }

  heard({ duration, sinceCommit }: Timing): void {
    this.handler.add(duration);
    if (sinceCommit !== null) this.sinceCommit.add(sinceCommit);
  }

  take(): void {
    const before = this.#before;
    const now = this.#count();
    this.#before = now;
    const span = Math.max(1, now.at - before.at) / 1_000;
    const per = (name: 'admitted' | 'settled' | 'retries'): number =>
      Math.round(((now[name] - before[name]) / span) * 10) / 10;
    const { unsettled, bytes, source, oldest } = this.#pipeline.details();
    const { window } = this.#pipeline.status();
    this.samples.push({
      at: Date.now(),
      ...{ admitted: per('admitted'), settled: per('settled'), retries: per('retries') },
      unsettled,
      window: Math.round(Math.max(unsettled / window.events, bytes / window.bytes) * 1_000) / 1_000,
      lagBytes: source?.lagBytes ?? null,
      oldestAge: oldest?.age ?? null,
      ...{ sinceCommit: this.sinceCommit.take(), handler: this.handler.take() },
    });
    if (this.samples.length > KEPT) this.samples.shift();
  }

  #count(): Counted {
    const { admitted, settled, retries } = this.#pipeline.totals();
    return { at: performance.now(), admitted, settled, retries };
  }
}

/**
 * Looks at the pipelines of this process once a second, and keeps a quarter of an hour of it: whoever opens the console
 * sees what was before.
 */
export class History {
  readonly #pipelines: readonly Sampled[];
  readonly #log: Logger;
  #histories: ReadonlyMap<string, PipelineHistory> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #deaf: (() => void) | undefined;

  constructor(pipelines: readonly Sampled[], log: Logger) {
    this.#pipelines = pipelines;
    this.#log = log;
  }

  start(): void {
    this.#histories = new Map(
      this.#pipelines.map((pipeline) => [pipeline.name, new PipelineHistory(pipeline)]),
    );
    this.#deaf = listen('strandline:turn:timed', (timing) => {
      if (timing.kind === 'live') this.#histories.get(timing.pipeline)?.heard(timing);
    });
    this.#timer = setInterval(() => {
      this.#take();
    }, EVERY).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#deaf?.();
    this.#deaf = undefined;
  }

  /** A sample that fails is missing: what looks on must not end what works. */
  #take(): void {
    for (const [pipeline, history] of this.#histories) {
      try {
        history.take();
      } catch (error) {
        this.#log.error({ err: error, pipeline }, 'a sample of the history has failed');
      }
    }
  }

  /** Oldest first. */
  of(pipeline: string): readonly Sample[] {
    return this.#histories.get(pipeline)?.samples ?? [];
  }
}
