import type { JSX } from 'preact';
import type { KeyAnswer } from '@strandline/admin';
import { StateBadge } from '../parts/badge.tsx';
import { ErrorChange } from '../parts/error-change.tsx';
import { Nothing } from '../parts/panel.tsx';
import { Foreign } from '../parts/text.tsx';
import { clock } from '../text/times.ts';

/** What happened at one moment of a key's life. */
interface Moment {
  readonly at: string;
  readonly what: string;
  readonly text: string;
  readonly error: string | null;
}

/** Failures, letters and what operators did, the newest first. What simply succeeded is not kept. */
export function Timeline({ answer }: { readonly answer: KeyAnswer }): JSX.Element {
  const moments = momentsOf(answer);
  if (moments.length === 0) return <Nothing>Nothing failed lately, and nobody did anything to it.</Nothing>;
  return (
    <ol class="timeline">
      {moments.map((moment, at) => (
        <li key={`${moment.at} ${moment.what} ${String(at)}`}>
          <time dateTime={moment.at}>{clock(moment.at)}</time>
          <StateBadge state={moment.what} /> <Foreign text={moment.text} />
          {moment.error !== null && (
            <ErrorChange
              error={moment.error}
              before={moments.slice(at + 1).find(({ error }) => error !== null)?.error ?? null}
            />
          )}
        </li>
      ))}
    </ol>
  );
}

/** Newest first. */
export function momentsOf({ happenings, letters, held }: KeyAnswer): Moment[] {
  const told = happenings.map(({ at, what, attempt, error, by, note, position }): Moment => {
    const texts = [
      ...(attempt === undefined ? [] : [`attempt ${String(attempt)}`]),
      ...(by === undefined ? [] : [`by ${by}`]),
      ...(note === undefined || note === '' ? [] : [`“${note}”`]),
      ...(position === undefined ? [] : [`at ${position.slice(-60)}`]),
    ];
    return { at, what, text: texts.join(', '), error: error === undefined ? null : errorText(error) };
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
