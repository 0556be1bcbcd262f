import { signal } from '@preact/signals';
import type { Problem } from '../api/problem.ts';

/** What somebody is told in the corner of the page. */
export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly problem: Problem | null;
  /** What takes it back; null where nothing can. */
  readonly undo: (() => void) | null;
  /** When it goes, or when what it announces is done, in milliseconds since 1970; null: when somebody sends it away. */
  readonly until: number | null;
}

export const notices = signal<readonly Notice[]>([]);

/** Milliseconds that good news, and what can be undone, stay. */
const NEWS = 5_000;
const UNDOABLE = 15_000;
/** Notices at a time; the oldest go. */
const MOST = 5;

let last = 0;

export function tell(text: string, undo: (() => void) | null = null): void {
  const until = Date.now() + (undo === null ? NEWS : UNDOABLE);
  const id = add({ text, problem: null, undo, until });
  setTimeout(() => {
    dismiss(id);
  }, until - Date.now());
}

/** Stays until it is sent away. */
export function tellProblem(text: string, problem: Problem): void {
  add({ text, problem, undo: null, until: null });
}

/** Says what is going to be done. Returns the number by which it is sent away. */
export function announce(text: string, until: number, undo: () => void): number {
  return add({ text, problem: null, undo, until });
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

function add(notice: Omit<Notice, 'id'>): number {
  last += 1;
  const id = last;
  // What is announced must not go before it is done.
  const kept = notices.value.filter(({ undo, until }) => undo !== null && until !== null);
  const rest = notices.value.filter((one) => !kept.includes(one)).slice(-MOST + 1);
  notices.value = [...kept, ...rest, { ...notice, id }].sort((a, b) => a.id - b.id);
  return id;
}
