import type { JSX } from 'preact';
import { changesBetween } from '../text/changes.ts';
import { Foreign } from './text.tsx';

/** An error, with what is different from the one before marked. */
export function ErrorChange({
  before,
  error,
}: {
  readonly before: string | null;
  readonly error: string;
}): JSX.Element {
  if (before === error) return <p class="dim">The same error as before</p>;
  const changes = before === null ? [{ text: error, kind: 'same' as const }] : changesBetween(before, error);
  return (
    <p class="why">
      {changes.map(({ text, kind }, at) => {
        const part = <Foreign text={text} />;
        if (kind === 'same') return <span key={at}>{part}</span>;
        return kind === 'added' ? <ins key={at}>{part}</ins> : <del key={at}>{part}</del>;
      })}
    </p>
  );
}
