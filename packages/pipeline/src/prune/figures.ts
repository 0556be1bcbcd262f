import type { HeldBack } from '@strandline/core';
import type { PauseKind, PrunePause } from './pauses.js';

/**
 * What the pruner is doing:
 *
 *     idle ──► looking ──► waiting ──► deleting ──► looking … ──► idle
 *               │            (for who has not settled)  (paused: see `paused`)
 *               ├── elsewhere: another pruner of this outbox is at work
 *               └── failed: tried again at the next round
 */
export type PruneState = 'idle' | 'looking' | 'waiting' | 'deleting' | 'elsewhere' | 'failed';

/** What a pruner has done since it started, and what it is doing. */
export interface PruneFigures {
  /** Null before it has seen its table. */
  readonly outbox: string | null;
  readonly state: PruneState;
  readonly rowsDeleted: number;
  readonly partitionsDropped: number;
  /** Rows that are old, and not known to be settled by all. */
  readonly candidates: number;
  /** When the oldest row of the table is from, ISO 8601 UTC, as of the end of the last round; null where that isn't known. */
  readonly oldest: string | null;
  /** Who has not settled what is to go. */
  readonly heldBack: readonly HeldBack[];
  /** Why it pauses now. */
  readonly paused: PrunePause | null;
  /** How often it has paused, by why. */
  readonly pauses: Readonly<Record<PauseKind, number>>;
  /** What the last round failed with. */
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** When the last round ended in order, ISO 8601 UTC by this process's clock. */
  readonly finishedAt: string | null;
}

type Change = { -readonly [Name in keyof PruneFigures]?: PruneFigures[Name] };

/** Keeps the figures; the one setter of the state. */
export class Figures {
  #now: PruneFigures = {
    outbox: null,
    state: 'idle',
    rowsDeleted: 0,
    partitionsDropped: 0,
    candidates: 0,
    oldest: null,
    heldBack: [],
    paused: null,
    pauses: { replicas: 0, busy: 0, locked: 0 },
    error: null,
    finishedAt: null,
  };

  get now(): PruneFigures {
    return this.#now;
  }

  become(state: PruneState, change: Change = {}): void {
    this.#now = { ...this.#now, ...change, state };
  }

  set(change: Change): void {
    this.#now = { ...this.#now, ...change };
  }

  deleted(rows: number): void {
    this.set({ rowsDeleted: this.#now.rowsDeleted + rows });
  }

  dropped(): void {
    this.set({ partitionsDropped: this.#now.partitionsDropped + 1 });
  }

  /** Null when it goes on. */
  pause(paused: PrunePause | null): void {
    const { pauses, paused: before } = this.#now;
    if (paused !== null && paused.kind !== before?.kind) {
      this.set({ pauses: { ...pauses, [paused.kind]: pauses[paused.kind] + 1 } });
    }
    this.set({ paused });
  }
}
