import {
  shortError,
  type DeadLetter,
  type FailureHistory,
  type HeldKey,
  type Order,
  type OutboxEvent,
  type ShortError,
} from '@strandline/core';
import type { Happening } from '../control/happenings.js';
import type { Run } from '../run.js';
import { momentOf, viewOf, type StrandView } from './strand-view.js';

/** Events, and letters, that a view names. */
const NAMED_EVENTS = 100;
export const NAMED_LETTERS = 50;

export interface WaitingEvent {
  readonly id: string;
  readonly type: string | null;
  readonly position: string;
  readonly committedAt: string;
  /** The handler that runs has it. */
  readonly inFlight: boolean;
}

export interface LetterView {
  /** Its number in the table. */
  readonly id: string;
  readonly state: DeadLetter['state'];
  readonly reason: DeadLetter['reason'];
  readonly parkedAt: string;
  readonly event: { readonly id: string; readonly type: string | null; readonly position: string };
  readonly attempts: number;
  readonly lastFailedAt: string | null;
  readonly error: ShortError | null;
  /** What its attempts failed with, in short. */
  readonly history: FailureHistory;
}

/** One key's life, as far as it is known in this process. Nothing of a payload is in it. */
export interface KeyView {
  readonly key: string;
  /** Whether this process works on the pipeline: else nothing is known of the key's live events. */
  readonly owned: boolean;
  /** What is live of it; null when nothing is. */
  readonly strand: StrandView | null;
  /** Its oldest live events, at most 100; `strand.depth` has them all. */
  readonly waiting: readonly WaitingEvent[];
  /** What comes of it is stored in the dead-letter table; so many events wait for that. Null when it is not. */
  readonly parked: { readonly notStored: number; readonly releasing: boolean; readonly full: boolean } | null;
  /** Who holds it; null when nobody does. */
  readonly held: HeldKey | null;
  /** Who has paused the whole pipeline; null while it runs. */
  readonly paused: Order | null;
  /** Its letters, at most 50, in the order of storing; null without `deadLetters`, or when the table can't be asked. */
  readonly letters: readonly LetterView[] | null;
  /** Why the table can't be asked. */
  readonly lettersError: ShortError | null;
  /** What has happened to it lately, oldest first: only what failed, and what operators did. */
  readonly happenings: readonly Happening[];
}

/** What of a key the owner's process has. */
export function liveViewOf(run: Run, key: string): Pick<KeyView, 'strand' | 'waiting' | 'parked'> {
  const { executor, letters } = run;
  const strand = executor.strandOf(key);
  const parked = executor.parkedStrandOf(key);
  const isRunning = strand?.state === 'running' || strand?.state === 'stuck';
  const inFlight = isRunning ? strand.inFlight : 0;
  const events = strand === undefined ? [] : strand.events(Math.min(strand.length, NAMED_EVENTS));
  return {
    strand: strand === undefined ? null : viewOf(strand, momentOf(run, [strand])),
    waiting: events.map(({ id, type, position, transaction }, n) => ({
      ...{ id, type, position, committedAt: transaction.commitTime },
      inFlight: n < inFlight,
    })),
    parked:
      parked === undefined
        ? null
        : {
            notStored: parked.length,
            releasing: letters?.releasing.includes(key) === true,
            full: letters?.fullKeys.includes(key) === true,
          },
  };
}

/** An event of the key that waits in this process, live or to be stored; null when there is none at that position. */
export function eventOf({ executor }: Run, key: string, position: string): OutboxEvent | null {
  const live = executor.strandOf(key)?.eventAt(position) ?? null;
  if (live !== null) return live;
  const parked = executor.parkedStrandOf(key);
  const entries = parked?.first(parked.length) ?? [];
  return entries.find(({ event }) => event.position === position)?.event ?? null;
}

export function letterViewOf(letter: DeadLetter): LetterView {
  const { id, state, reason, parkedAt, event, failure } = letter;
  return {
    ...{ id, state, reason, parkedAt },
    event: { id: event.id, type: event.type, position: event.position },
    attempts: failure?.attempts ?? 0,
    lastFailedAt: failure?.lastFailedAt ?? null,
    error:
      failure === null ? null : shortError(Object.assign(new Error(failure.error.message), failure.error)),
    history: failure?.history ?? [],
  };
}
