import {
  shortError,
  timedBy,
  type FailureHistory,
  type ShortError,
  type Strand,
  type StrandState,
} from '@strandline/core';
import type { RunningTurn } from '../dispatcher.js';
import type { Run } from '../run.js';

/** One live key, as it is at this moment. Times are ISO 8601 UTC, spans in milliseconds. Nothing of a payload is in it. */
export interface StrandView {
  readonly key: string;
  readonly state: StrandState;
  /** An operator holds it: whatever it does now, it takes no further turn. */
  readonly held: boolean;
  /** Events that wait here, those in flight among them. */
  readonly depth: number;
  readonly head: {
    readonly id: string;
    readonly type: string | null;
    readonly position: string;
    /** By the database's clock. */
    readonly committedAt: string;
  };
  /** Since the head committed. Two clocks are compared: the database's and this process's. */
  readonly age: number;
  /** Handler calls for the head so far. */
  readonly attempts: number;
  readonly firstFailedAt: string | null;
  readonly lastFailedAt: string | null;
  readonly lastError: ShortError | null;
  /** What the attempts that failed did so with, in short. */
  readonly history: FailureHistory;
  readonly nextTryAt: string | null;
  /** The turn that runs: how many events it has, for how long, and whether that is too long. */
  readonly turn: { readonly events: number; readonly runningFor: number; readonly stuck: boolean } | null;
  readonly holdsUp: {
    /** Events of the key behind the head, or behind the batch in flight. */
    readonly behind: number;
    /** Set when the head is the oldest event of all that is not settled: nothing behind it can be released from the log. */
    readonly watermark: {
      /** How far the log was read on since, between the commits of the head and of the newest event. */
      readonly spans: number;
      /** Events of all keys that are here and not settled. */
      readonly unsettled: number;
    } | null;
  };
}

/** What views of one moment have in common. */
export interface ViewMoment {
  readonly run: Run;
  readonly turns: ReadonlyMap<Strand, RunningTurn>;
  /** On the clock of the executor's times, and on the wall's. */
  readonly now: number;
  readonly wall: number;
}

/** @param strands those that are going to be viewed */
export function momentOf(run: Run, strands: readonly Strand[]): ViewMoment {
  const turns = new Map<Strand, RunningTurn>();
  const wanted = new Set(strands);
  if (wanted.size > 0)
    for (const turn of run.turns()) if (wanted.has(turn.strand)) turns.set(turn.strand, turn);
  return { run, turns, now: performance.now(), wall: Date.now() };
}

export function viewOf(strand: Strand, moment: ViewMoment): StrandView {
  const { run, turns, now, wall } = moment;
  const { key, state, length, attempt, head, firstFailedAt, lastFailedAt, dueAt } = strand;
  const { id, type, position, transaction } = head.event;
  const turn = turns.get(strand);
  const when = (time: number): string => new Date(wall - now + time).toISOString();
  const at = (time: number): string | null => (Number.isNaN(time) ? null : when(time));
  return {
    key,
    state,
    held: run.executor.isHeld(key),
    depth: length,
    head: { id, type, position, committedAt: transaction.commitTime },
    age: Math.max(0, wall - Date.parse(transaction.commitTime)),
    attempts: attempt,
    firstFailedAt: at(firstFailedAt),
    lastFailedAt: at(lastFailedAt),
    lastError: Number.isNaN(firstFailedAt) ? null : shortError(strand.lastError),
    history: timedBy(strand.failureHistory, when),
    nextTryAt: at(dueAt),
    turn: turn === undefined ? null : turnOf(turn, wall),
    holdsUp: {
      behind: length - Math.max(1, turn === undefined ? 1 : strand.inFlight),
      watermark: run.executor.oldest === head.event ? watermarkOf(run, transaction.commitTime) : null,
    },
  };
}

function turnOf({ strand, stuck, startedAt }: RunningTurn, wall: number): StrandView['turn'] {
  return { events: strand.inFlight, runningFor: Math.max(0, wall - startedAt), stuck };
}

function watermarkOf({ executor, newest }: Run, committedAt: string): StrandView['holdsUp']['watermark'] {
  const newestAt = newest === null ? NaN : Date.parse(newest.transaction.commitTime);
  const spans = newestAt - Date.parse(committedAt);
  return { spans: Number.isNaN(spans) ? 0 : Math.max(0, spans), unsettled: executor.unsettled };
}
