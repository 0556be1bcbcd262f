import type { JSX } from 'preact';
import type { StrandAnswer } from '@strandline/admin';
import { clock } from '../text/times.ts';
import { ErrorChange } from './error-change.tsx';

type History = StrandAnswer['history'];

/** What the attempts of one event failed with, and what was different each time; those in a row that failed the same are one. */
export function Attempts({ history }: { readonly history: History }): JSX.Element | null {
  if (history.length === 0) return null;
  return (
    <ol class="timeline">
      {history.map(({ first, last, firstFailedAt, lastFailedAt, error }, at) => {
        const before = history[at - 1];
        const gap = before === undefined ? 0 : first - before.last - 1;
        return (
          <li key={first}>
            {gap > 0 && (
              <p class="dim">{gap === 1 ? '1 attempt is' : `${String(gap)} attempts are`} not kept</p>
            )}
            <span class="dim">
              {first === last
                ? `Attempt ${String(first)}, ${clock(firstFailedAt)}`
                : `Attempts ${String(first)} to ${String(last)}, ${clock(firstFailedAt)} to ${clock(lastFailedAt)}`}
            </span>
            <ErrorChange before={before === undefined ? null : textOf(before.error)} error={textOf(error)} />
          </li>
        );
      })}
    </ol>
  );
}

function textOf({ name, code, message }: History[number]['error']): string {
  return `${code ?? name}: ${message}`;
}
