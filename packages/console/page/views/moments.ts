import type { KeyAnswer } from '@strandline/admin';

/** What happened at one moment of a key's life. */
export interface Moment {
  readonly at: string;
  readonly what: string;
  readonly text: string;
  readonly error: string | null;
  /** Of a failure: which attempt at which event it was, and the first of those that failed in the same way just before. */
  readonly attempt?: { readonly position: string; readonly first: number; readonly last: number };
}

/** Attempts at one event that failed one after another in the same way are one moment: that of the newest. */
export function folded(moments: readonly Moment[]): Moment[] {
  const kept: Moment[] = [];
  for (const moment of moments) {
    const newer = kept.at(-1);
    const [last, first] = [newer?.attempt, moment.attempt];
    if (last === undefined || first === undefined || last.position !== first.position) kept.push(moment);
    else if (newer?.error !== moment.error || last.first !== first.last + 1) kept.push(moment);
    else {
      const attempt = { ...last, first: first.first };
      const text = newer.text.replace(/^attempts? \d+(?: to \d+)?/, attemptsText(attempt));
      kept[kept.length - 1] = { ...newer, attempt, text };
    }
  }
  return kept;
}

function attemptsText({ first, last }: { readonly first: number; readonly last: number }): string {
  return first === last ? `attempt ${String(last)}` : `attempts ${String(first)} to ${String(last)}`;
}

/** Newest first. */
export function momentsOf({ happenings, letters, held }: KeyAnswer): Moment[] {
  const told = happenings.map(({ at, what, attempt, error, by, note, position }): Moment => {
    const texts = [
      ...(attempt === undefined ? [] : [attemptsText({ first: attempt, last: attempt })]),
      ...(by === undefined ? [] : [`by ${by}`]),
      ...(note === undefined || note === '' ? [] : [`“${note}”`]),
      ...(position === undefined ? [] : [`at ${position.slice(-60)}`]),
    ];
    const told = { at, what, text: texts.join(', '), error: error === undefined ? null : errorText(error) };
    return what === 'failed' && attempt !== undefined && position !== undefined
      ? { ...told, attempt: { position, first: attempt, last: attempt } }
      : told;
  });
  const stored = (letters ?? []).map(({ parkedAt, reason, state, event, error }): Moment => ({
    at: parkedAt,
    what: state,
    text: `letter of event ${event.id}, stored because ${REASONS[reason] ?? reason}`,
    error: error === null ? null : errorText(error),
  }));
  const holds =
    held === null || happenings.some(({ what }) => what === 'held')
      ? []
      : [{ at: held.at, what: 'held', text: `by ${held.by}`, error: null }];
  return [...told, ...stored, ...holds].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

const REASONS: Readonly<Record<string, string>> = {
  failed: 'its handler failed for good',
  behind: 'it comes after one that is parked',
  overflow: 'its key had filled its share of the window',
  crash: 'its handler ended the process',
  operator: 'an operator parked or skipped it',
};

function errorText({
  name,
  code,
  message,
}: {
  readonly name: string;
  readonly code: string | null;
  readonly message: string;
}): string {
  return `${code ?? name}: ${message}`;
}
