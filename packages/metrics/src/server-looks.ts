import type { LetterCounts, Logger, LogState } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';

/** Milliseconds between looks: each opens a session on the server. */
export const LOOK_EVERY = 15_000;
/** Milliseconds after which a look is given up. */
const LOOK_WITHIN = 10_000;

/** What only the servers know. */
export interface ServerLook {
  /** Bytes of log that the server keeps for the pipeline, or has in all where it keeps none for anybody. */
  readonly retainedBytes: number | null;
  /** Bytes that the log may grow, or the server remove, before what the pipeline needs may be gone. */
  readonly purgeDistance: number | null;
  /** What is in the dead-letter table; null without one. */
  readonly letters: LetterCounts | null;
  /** When, by `performance.now()`. */
  readonly at: number;
}

/**
 * Looks at the servers of a pipeline when somebody asks for metrics, at most every 15 seconds, and answers with what the
 * last look found: a scrape neither waits for a server nor brings it to its knees, and nobody looks when nobody asks.
 */
export class ServerLooks {
  readonly #pipeline: Pipeline;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  #latest: ServerLook | null = null;
  #begun = -Infinity;
  #pending: Promise<void> | null = null;

  constructor(pipeline: Pipeline, now: () => number) {
    this.#pipeline = pipeline;
    this.#now = now;
  }

  /** What the last look found; null before the first one has. Begins the next one when its time has come. */
  latest(): ServerLook | null {
    const due = this.#pending === null && this.#now() - this.#begun >= LOOK_EVERY;
    if (due && !this.#closing.signal.aborted) {
      this.#begun = this.#now();
      this.#pending = this.#look().finally(() => {
        this.#pending = null;
      });
    }
    return this.#latest;
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await this.#pending;
  }

  close(): void {
    this.#closing.abort();
  }

  /** A look that fails is missing: the age of the last one tells. */
  async #look(): Promise<void> {
    const [log, letters] = await Promise.allSettled([this.#log(), this.#letters()]);
    if (log.status === 'rejected' || letters.status === 'rejected') return;
    this.#latest = { ...log.value, letters: letters.value, at: this.#now() };
  }

  async #log(): Promise<Pick<ServerLook, 'retainedBytes' | 'purgeDistance'>> {
    const { source, name } = this.#pipeline;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LOOK_WITHIN)]);
    const state = await source.inspect({ pipeline: name, signal, log: SILENT });
    const watermark = this.#pipeline.status().savedWatermark;
    return {
      retainedBytes: state.retainedBytes,
      purgeDistance: state.safeBytes ?? distance(state, watermark),
    };
  }

  async #letters(): Promise<LetterCounts | null> {
    return (await this.#pipeline.deadLetters?.counts()) ?? null;
  }
}

/**
 * How much the server can remove before it comes to what the pipeline needs. A server that keeps its log for the
 * pipeline removes none of that, unless a limit makes it (`safeBytes`).
 */
function distance(state: LogState, watermark: string | null): number | null {
  if (state.safeBytes !== undefined || state.earliest === null || watermark === null) return null;
  try {
    const [all, needed] = [state.bytesBehind(state.earliest), state.bytesBehind(watermark)];
    return all === null || needed === null ? null : Math.max(0, all - needed);
  } catch {
    // The saved position is none of this log.
    return null;
  }
}

const silence = (): void => undefined;
const SILENT: Logger = {
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
  child: () => SILENT,
};
