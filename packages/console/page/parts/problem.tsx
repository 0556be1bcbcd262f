import type { JSX } from 'preact';
import type { Problem } from '../api/problem.ts';
import { Foreign } from './text.tsx';

/** What went wrong, and what to do about it. */
export function ProblemBox({ problem }: { readonly problem: Problem | null }): JSX.Element | null {
  if (problem === null) return null;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>
          <Foreign text={problem.message} />
        </strong>{' '}
        <code class="dim">{problem.code}</code>
      </p>
      <p>
        <Foreign text={problem.remedy} />
      </p>
    </div>
  );
}
