import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { dismiss, notices, type Notice } from '../state/notices.ts';
import { Button } from './button.tsx';
import { Foreign } from './text.tsx';

/** What was done, what went wrong, and what is about to be done: in a corner, and told by a screen reader. */
export function Notices(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <One key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function One({ notice: { id, text, problem, undo, until } }: { readonly notice: Notice }): JSX.Element {
  return (
    <div class={`notice ${problem === null ? '' : 'bad'}`}>
      <div>
        <Foreign text={text} />
        {undo !== null && until !== null && <SecondsLeft until={until} />}
        {problem !== null && (
          <p>
            <Foreign text={`${problem.message} ${problem.remedy}`} /> <code class="dim">{problem.code}</code>
          </p>
        )}
      </div>
      <div class="tools">
        {undo !== null && (
          <Button
            onPress={() => {
              dismiss(id);
              undo();
            }}
          >
            Undo
          </Button>
        )}
        {undo === null && (
          <Button
            label="Close this notice"
            onPress={() => {
              dismiss(id);
            }}
          >
            ×
          </Button>
        )}
      </div>
    </div>
  );
}

/** Not read out every second. */
function SecondsLeft({ until }: { readonly until: number }): JSX.Element {
  const left = (): number => Math.max(0, Math.ceil((until - Date.now()) / 1_000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => {
      setSeconds(left());
    }, 250);
    return () => {
      clearInterval(timer);
    };
  }, [until]);
  return (
    <span class="dim" aria-hidden="true">
      {' '}
      {seconds} s
    </span>
  );
}
