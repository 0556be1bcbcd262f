import type { JSX } from 'preact';
import type { KeyAnswer, PipelineAnswer } from '@strandline/admin';
import { retryLetters } from '../actions/letters.ts';
import { get, ofPipeline } from '../api/client.ts';
import { holdsUpText } from '../attention/attention.ts';
import { StateBadge } from '../parts/badge.tsx';
import { ChangeButton } from '../parts/button.tsx';
import { HoldButton, KeyActions } from '../parts/key-actions.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Facts, Panel } from '../parts/panel.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Foreign, KeyText } from '../parts/text.tsx';
import { ALL_LETTERS, href } from '../place/route.ts';
import { now } from '../state/live.ts';
import { usePolled } from '../state/polled.ts';
import { amount, count } from '../text/numbers.ts';
import { ago, clock, due, span } from '../text/times.ts';
import { visible } from '../text/visible.ts';
import { Timeline } from './timeline.tsx';
import { WaitingEvents } from './waiting-events.tsx';

/** One key's life: what it does, what waits, what befell it, and what can be done. */
export function KeyView({
  pipeline,
  name,
}: {
  readonly pipeline: PipelineAnswer;
  readonly name: string;
}): JSX.Element {
  const { answer, problem } = usePolled(`key ${pipeline.name} ${name}`, (signal) =>
    get<KeyAnswer>(ofPipeline(pipeline.name, '/key'), { key: name }, signal),
  );
  const waits = (answer?.letters ?? []).filter(({ state }) => state === 'waiting').length;
  return (
    <>
      <PageTitle
        title={`Key ${visible(name, 60)}`}
        tools={answer !== null && <Tools pipeline={pipeline.name} answer={answer} letters={waits} />}
      >
        <span class="dim">Key</span> <KeyText text={name} whole={name.length <= 400} />
      </PageTitle>
      <ProblemBox problem={problem} />
      {answer !== null && <Life pipeline={pipeline.name} answer={answer} letters={waits} />}
    </>
  );
}

interface Seen {
  readonly pipeline: string;
  readonly answer: KeyAnswer;
  readonly letters: number;
}

function Tools({ pipeline, answer, letters }: Seen): JSX.Element {
  const { key, strand, held } = answer;
  return (
    <>
      {letters > 0 && (
        <ChangeButton kind="main" onPress={() => retryLetters(pipeline, { key }, 1)}>
          Retry its letters
        </ChangeButton>
      )}
      {strand === null ? (
        <HoldButton pipeline={pipeline} name={key} held={held !== null} />
      ) : (
        <KeyActions pipeline={pipeline} strand={strand} held={held !== null} />
      )}
    </>
  );
}

function Life({ pipeline, answer, letters }: Seen): JSX.Element {
  const { key, owned, strand, parked, held, paused, lettersError } = answer;
  const holdsUp = strand === null ? null : holdsUpText(strand);
  return (
    <>
      {!owned && (
        <p class="notice-line">Another process has the pipeline: what is live of this key is known there.</p>
      )}
      {paused !== null && (
        <p class="notice-line">
          The whole pipeline is paused by{' '}
          <Foreign text={`${paused.by}${paused.note === '' ? '' : `: ${paused.note}`}`} />
        </p>
      )}
      {lettersError !== null && (
        <p class="notice-line">The dead-letter table does not answer: {lettersError.message}</p>
      )}
      <Panel title="Now">
        <Facts
          facts={[
            [
              'State',
              strand === null ? (
                <StateBadge state={letters > 0 || parked !== null ? 'parked' : 'idle'} />
              ) : (
                <StateBadge state={strand.state} />
              ),
            ],
            [
              'Held by',
              held === null ? (
                'nobody'
              ) : (
                <Foreign
                  text={`${held.by}, ${ago(held.at, now.value)}${held.note === '' ? '' : `: ${held.note}`}`}
                />
              ),
            ],
            ['Events here', strand === null ? '0' : count(strand.depth)],
            ['Letters that wait', letters >= 50 ? '50 or more' : count(letters)],
            ...(parked === null
              ? []
              : [
                  [
                    'To be stored as letters',
                    `${count(parked.notStored)}${parked.full ? ': there is no room' : ''}`,
                  ] as const,
                ]),
            ...(strand === null
              ? []
              : ([
                  ['First event committed', ago(strand.head.committedAt, now.value)],
                  ['Attempts at it', count(strand.attempts)],
                  ['Failing since', clock(strand.firstFailedAt)],
                  ['Next try', due(strand.nextTryAt, now.value)],
                  [
                    'Handler runs for',
                    strand.turn === null
                      ? '–'
                      : `${span(strand.turn.runningFor)}, ${amount(strand.turn.events, 'event')}`,
                  ],
                  ['Holds up', holdsUp ?? 'nothing'],
                ] as const)),
          ]}
        />
        {strand !== null && strand.lastError !== null && (
          <p class="why last-error">
            <Foreign
              text={`${strand.lastError.code ?? strand.lastError.name}: ${strand.lastError.message}`}
            />
          </p>
        )}
      </Panel>
      {letters > 0 && (
        <p>
          <a href={href({ view: 'letters', pipeline, filter: { ...ALL_LETTERS, key } })}>
            Its dead letters, with their payloads
          </a>
        </p>
      )}
      <Panel title="What befell it">
        <Timeline answer={answer} />
      </Panel>
      <WaitingEvents pipeline={pipeline} answer={answer} />
    </>
  );
}
