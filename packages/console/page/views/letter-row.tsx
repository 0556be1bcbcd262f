import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LetterAnswer, PayloadAnswer } from '@strandline/admin';
import { get, ofPipeline } from '../api/client.ts';
import { Attempts } from '../parts/attempts.tsx';
import { StateBadge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/panel.tsx';
import { Payload } from '../parts/payload.tsx';
import { Foreign, KeyText } from '../parts/text.tsx';
import { href } from '../place/route.ts';
import { now } from '../state/live.ts';
import { count } from '../text/numbers.ts';
import { ago, clock } from '../text/times.ts';
import { visible } from '../text/visible.ts';

/** One letter, and what is known of it once it is opened. */
export function LetterRow({
  pipeline,
  letter,
  chosen,
  onChoose,
}: {
  readonly pipeline: string;
  readonly letter: LetterAnswer;
  readonly chosen: boolean;
  readonly onChoose: (key: string) => void;
}): JSX.Element {
  const [opened, open] = useState(false);
  const { event, reason, parkedAt, failure } = letter;
  return (
    <>
      <tr class={chosen ? 'chosen' : ''}>
        <td>
          <input
            type="checkbox"
            aria-label={`Choose the key ${visible(event.key, 60)}`}
            checked={chosen}
            onChange={() => {
              onChoose(event.key);
            }}
          />
        </td>
        <td class="wide">
          <a href={href({ view: 'key', pipeline, key: event.key })}>
            <KeyText text={event.key} />
          </a>
        </td>
        <td data-label="Event">
          <Foreign text={`${event.type ?? ''} ${visible(event.id, 40)}`.trim()} />
        </td>
        <td>
          <StateBadge state={reason} />
        </td>
        <td data-label="Stored" title={clock(parkedAt)}>
          {ago(parkedAt, now.peek())}
        </td>
        <td class="error">
          {failure !== null && (
            <span class="why">
              <Foreign
                text={`${failure.error.code ?? failure.error.name}: ${failure.error.message.slice(0, 120)}`}
              />
            </span>
          )}{' '}
          <Button
            label={`${opened ? 'Close' : 'Open'} the letter of event ${visible(event.id, 40)}`}
            onPress={() => {
              open(!opened);
            }}
          >
            {opened ? 'Close' : 'Open'}
          </Button>
        </td>
      </tr>
      {opened && (
        <tr class="opened">
          <td colSpan={6}>
            <Opened pipeline={pipeline} letter={letter} />
          </td>
        </tr>
      )}
    </>
  );
}

function Opened({
  pipeline,
  letter,
}: {
  readonly pipeline: string;
  readonly letter: LetterAnswer;
}): JSX.Element {
  const { id, event, failure, state, place, parkedAt } = letter;
  return (
    <div class="letter">
      <Facts
        facts={[
          ['Letter', `${id}, place ${count(place)} of its key`],
          ['State', <StateBadge state={state} />],
          ['Event', <Foreign text={event.id} />],
          ['Table', <Foreign text={event.table} />],
          ['Committed', clock(event.committedAt)],
          ['Stored', clock(parkedAt)],
          ['Position', <code>{event.position}</code>],
          ...(failure === null
            ? []
            : ([
                ['Attempts', count(failure.attempts)],
                ['First failed', clock(failure.firstFailedAt)],
                ['Last failed', clock(failure.lastFailedAt)],
              ] as const)),
        ]}
      />
      {failure !== null && failure.history.length > 1 && <Attempts history={failure.history} />}
      {failure !== null && (
        <details>
          <summary>The error in full</summary>
          <pre tabIndex={0} aria-label="The error with its stack">
            <Foreign text={failure.error.stack === '' ? failure.error.message : failure.error.stack} />
          </pre>
        </details>
      )}
      <Payload
        what={`event ${visible(event.id, 40)}`}
        ask={() => get<PayloadAnswer>(ofPipeline(pipeline, `/letters/${id}/payload`))}
      />
    </div>
  );
}
