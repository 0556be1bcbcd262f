import type { JSX } from 'preact';
import type { KeyAnswer } from '@strandline/admin';
import { StateBadge } from '../parts/badge.tsx';
import { Nothing } from '../parts/panel.tsx';
import { Foreign } from '../parts/text.tsx';
import { changesBetween } from '../text/changes.ts';
import { clock } from '../text/times.ts';
import { folded, momentsOf } from './moments.ts';

/** Failures, letters and what operators did, the newest first. What simply succeeded is not kept. */
export function Timeline({ answer }: { readonly answer: KeyAnswer }): JSX.Element {
  const moments = folded(momentsOf(answer));
  if (moments.length === 0) return <Nothing>Nothing failed lately, and nobody did anything to it.</Nothing>;
  return (
    <ol class="timeline">
      {moments.map((moment, at) => (
        <li key={`${moment.at} ${moment.what} ${String(at)}`}>
          <time dateTime={moment.at}>{clock(moment.at)}</time>
          <StateBadge state={moment.what} /> <Foreign text={moment.text} />
          {moment.error !== null && (
            <ErrorText
              error={moment.error}
              before={moments.slice(at + 1).find(({ error }) => error !== null)?.error ?? null}
            />
          )}
        </li>
      ))}
    </ol>
  );
}

/** What is different from the error before is marked. */
function ErrorText({
  error,
  before,
}: {
  readonly error: string;
  readonly before: string | null;
}): JSX.Element {
  if (before === error) return <p class="dim">The same error as before</p>;
  const changes = before === null ? [{ text: error, kind: 'same' as const }] : changesBetween(before, error);
  return (
    <p class="why">
      {changes.map(({ text, kind }, at) => {
        if (kind === 'same') return <Foreign key={at} text={text} />;
        return kind === 'added' ? (
          <ins key={at}>
            <Foreign text={text} />
          </ins>
        ) : (
          <del key={at}>
            <Foreign text={text} />
          </del>
        );
      })}
    </p>
  );
}
