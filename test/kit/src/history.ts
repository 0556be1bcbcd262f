import type { OutboxEvent } from '@strandline/core';

/** One thing that happened to a handler. A history lists them in the order in which they happened. */
export interface HistoryEntry {
  readonly what: 'started' | 'succeeded' | 'failed';
  /** Counts the lives of the process: 1, 2, … */
  readonly run: number;
  readonly attempt: number;
  readonly key: string;
  /** The event, or the events of a batch. */
  readonly ids: readonly string[];
  readonly positions: readonly string[];
  /** By the machine's clock, milliseconds since 1970. */
  readonly at: number;
}

/** What handlers did, and the waiting for it. */
export abstract class History {
  readonly #entries: HistoryEntry[] = [];
  readonly #succeeded = new Set<string>();
  readonly #ended = new Map<number, number>();
  readonly #stopped = new Set<number>();

  get entries(): readonly HistoryEntry[] {
    return this.#entries;
  }

  /** Takes in what has happened since and was not told. */
  abstract refresh(): this;

  /** The ids that a handler has succeeded for, in any run. */
  get succeeded(): ReadonlySet<string> {
    return this.#succeeded;
  }

  /**
   * A life is over: what it had in flight has ended without a word.
   *
   * @param how whether it stopped in order and had saved what it had settled, or was cut short
   * @param at by the machine's clock: the last moment at which it can have lived
   */
  end(run: number, how: 'stopped' | 'cut short', at = Date.now()): void {
    this.#ended.set(run, at);
    if (how === 'stopped') this.#stopped.add(run);
  }

  /** When lives ended, as far as that was said. */
  get ended(): ReadonlyMap<number, number> {
    return this.#ended;
  }

  /** The lives that stopped in order. */
  get stopped(): ReadonlySet<number> {
    return this.#stopped;
  }

  /** The ids of the entries of one kind, in order; with repetitions, when there are any. */
  ids(what: HistoryEntry['what'], run?: number): string[] {
    return this.#entries
      .filter((entry) => entry.what === what && (run === undefined || entry.run === run))
      .flatMap(({ ids }) => ids);
  }

  /** The entries of one key. */
  ofKey(key: string): HistoryEntry[] {
    return this.#entries.filter((entry) => entry.key === key);
  }

  /** Whether an event of this key is being handled, by what was written down. */
  isRunning(key: string, run: number): boolean {
    return this.#entries.findLast((entry) => entry.key === key && entry.run === run)?.what === 'started';
  }

  /** Resolves when the condition holds; rejects, and says for what it waited, after the deadline. */
  abstract until(what: string, condition: () => boolean, deadlineMs?: number): Promise<void>;

  /** Resolves when `count` different events have succeeded. */
  untilSucceeded(count: number, deadlineMs?: number): Promise<void> {
    return this.until(
      `${String(count)} events had succeeded`,
      () => this.#succeeded.size >= count,
      deadlineMs,
    );
  }

  protected add(entry: HistoryEntry): void {
    this.#entries.push(entry);
    if (entry.what === 'succeeded') for (const id of entry.ids) this.#succeeded.add(id);
  }
}

/** Default of `until`: the tests share two cores. */
export const defaultDeadlineMs = 30_000;

/** The history of handlers in this process: it looks at a condition whenever something happens. */
export class MemoryHistory extends History {
  readonly #waiting = new Set<() => void>();

  /** Bound: it is handed to who records. */
  readonly record: Recorder = (entry) => {
    this.add(entry);
    for (const look of this.#waiting) look();
  };

  refresh(): this {
    return this;
  }

  async until(what: string, condition: () => boolean, deadlineMs = defaultDeadlineMs): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiting.delete(look);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        const state = `${String(this.succeeded.size)} had`;
        reject(new Error(`Waited ${String(deadlineMs)} ms in vain until ${what}; ${state}.`));
      }, deadlineMs);
      this.#waiting.add(look);
    });
  }
}

/** Who writes entries down. */
export type Recorder = (entry: HistoryEntry) => void;

/** Writes down when the work on events starts and how it ends. */
export async function recorded<T>(
  record: Recorder,
  about: { readonly run: number; readonly attempt: number; readonly events: readonly OutboxEvent[] },
  work: () => Promise<T>,
): Promise<T> {
  const write = (what: HistoryEntry['what']): void => {
    record({
      what,
      run: about.run,
      attempt: about.attempt,
      key: about.events[0]?.key ?? '',
      ids: about.events.map(({ id }) => id),
      positions: about.events.map(({ position }) => position),
      at: Date.now(),
    });
  };
  write('started');
  try {
    const result = await work();
    write('succeeded');
    return result;
  } catch (error) {
    write('failed');
    throw error;
  }
}
