import type { JSX } from 'preact';
import type { KeyAnswer } from '@strandline/admin';
import { StateBadge } from '../parts/badge.tsx';
import { ErrorChange } from '../parts/error-change.tsx';
import { Nothing } from '../parts/panel.tsx';
import { Foreign } from '../parts/text.tsx';
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
