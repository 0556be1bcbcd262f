import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PayloadAnswer } from '@strandline/admin';
import { problemFrom, type Problem } from '../api/problem.ts';
import { layOut, looksLikeJson } from '../text/json-layout.ts';
import { amount } from '../text/numbers.ts';
import { Button } from './button.tsx';
import { ProblemBox } from './problem.tsx';
import { Foreign } from './text.tsx';

/** A payload, once somebody asks for it. */
export function Payload({
  what,
  ask,
}: {
  readonly what: string;
  readonly ask: () => Promise<PayloadAnswer>;
}): JSX.Element {
  const [shown, setShown] = useState<PayloadAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [exact, setExact] = useState(false);
  const show = async (): Promise<void> => {
    try {
      setShown(await ask());
      setProblem(null);
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  if (shown === null) {
    return (
      <>
        <Button onPress={show} label={`Show the payload of ${what}`}>
          Payload
        </Button>
        <ProblemBox problem={problem} />
      </>
    );
  }
  return (
    <div class="payload">
      <div class="tools">
        <Button
          onPress={() => {
            setShown(null);
          }}
        >
          Hide payload
        </Button>
        {shown.text !== null && looksLikeJson(shown.text) && (
          <Button
            onPress={() => {
              setExact(!exact);
            }}
          >
            {exact ? 'Lay out' : 'As it is'}
          </Button>
        )}
        {shown.cut && <span class="dim">The beginning of {amount(shown.length, 'character')}</span>}
      </div>
      {shown.text === null ? (
        <p class="nothing">It has none.</p>
      ) : (
        <pre tabIndex={0} aria-label={`Payload of ${what}`}>
          <Foreign text={exact || !looksLikeJson(shown.text) ? shown.text : layOut(shown.text)} />
        </pre>
      )}
    </div>
  );
}
