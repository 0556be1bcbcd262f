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
  /** When the one of them that answered longest ago has, or was first asked, by `performance.now()`. */
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
  /** When the log, and the dead-letter table, have answered last. */
  #logAt: number | null = null;
  #lettersAt: number | null = null;
  #pending: Promise<void> | null = null;

  constructor(pipeline: Pipeline, now: () => number) {
    this.#pipeline = pipeline;
    this.#now = now;
  }

  /** What the last look found; null before the first one is over. Begins the next one when its time has come. */
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

  /**
   * What does not answer leaves what it said last, and does not keep the other's answer from being shown: the age of the
   * older one tells.
   */
  async #look(): Promise<void> {
    const before = this.#latest ?? {
      retainedBytes: null,
      purgeDistance: null,
      letters: null,
      at: this.#begun,
    };
    const [log, letters] = await Promise.allSettled([this.#log(), inTime(this.#letters())]);
    if (log.status === 'fulfilled') this.#logAt = this.#now();
    if (letters.status === 'fulfilled') this.#lettersAt = this.#now();
    this.#latest = {
      ...before,
      ...(log.status === 'fulfilled' ? log.value : {}),
      ...(letters.status === 'fulfilled' ? { letters: letters.value } : {}),
      at: Math.min(this.#logAt ?? before.at, this.#lettersAt ?? before.at),
    };
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

/** Without it one answer that never comes would be the last look. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      reject,
      LOOK_WITHIN,
      new Error('the dead-letter table has not answered in time'),
    ).unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
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
