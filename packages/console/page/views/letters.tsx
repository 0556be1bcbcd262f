import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LetterAnswer, LetterCountsAnswer, PipelineAnswer } from '@strandline/admin';
import {
  discardLetters,
  retryKeys,
  retryLetters,
  skipLetters,
  type Heads,
  type Meant,
} from '../actions/letters.ts';
import { get, ofPipeline } from '../api/client.ts';
import { Button, ChangeButton } from '../parts/button.tsx';
import { Choice, Field } from '../parts/field.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Nothing } from '../parts/panel.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { LETTER_STATES, type LetterFilter, type Route } from '../place/route.ts';
import { refine } from '../place/place.ts';
import { usePolled } from '../state/polled.ts';
import { amount, count } from '../text/numbers.ts';
import { LetterRow } from './letter-row.tsx';

const PAGE = 100;
const MOST = 1_000;

interface Letters {
  readonly letters: readonly LetterAnswer[];
  readonly counts: LetterCountsAnswer;
}

/** The dead letters: what waits for somebody, and what can be done with many of them at once. */
export function LettersView({
  pipeline,
  route,
}: {
  readonly pipeline: PipelineAnswer;
  readonly route: Route & { view: 'letters' };
}): JSX.Element {
  const { name } = pipeline;
  const { filter } = route;
  const [limit, setLimit] = useState(PAGE);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const about = JSON.stringify(filter);
  useEffect(() => {
    choose(new Set());
    setLimit(PAGE);
  }, [name, about]);
  const meant = meantBy(filter);
  const { answer, problem, again } = usePolled(`letters ${name} ${about}`, (signal) =>
    get<Letters>(ofPipeline(name, '/letters'), { ...meant, limit }, signal),
  );
  const letters = answer?.letters ?? [];
  const keys = [...new Set(letters.map(({ event }) => event.key))];
  const chosenKeys = keys.filter((key) => chosen.has(key));
  const set = (change: Partial<LetterFilter>): void => {
    refine({ ...route, filter: { ...filter, ...change } });
  };
  const done = (): void => {
    choose(new Set());
    again();
  };
  const toggle = (key: string): void => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    choose(next);
  };
  return (
    <>
      <PageTitle
        title="Dead letters"
        tools={
          filter.state === 'waiting' && (
            <ChangeButton
              disabled={letters.length === 0}
              onPress={() => retryLetters(name, isAll(filter) ? { all: true } : meant, null).then(done)}
            >
              {isAll(filter) ? 'Retry all' : 'Retry all that fit'}
            </ChangeButton>
          )
        }
      />
      {answer !== null && (
        <p class="dim" aria-live="polite">
          {amount(answer.counts.waiting, 'letter waits', 'letters wait')} in{' '}
          {amount(answer.counts.keys, 'key')}, {amount(answer.counts.skipped, 'skipped one')} to look at.
        </p>
      )}
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        <Field
          label="Key, exactly"
          value={filter.key}
          onInput={(key) => {
            set({ key });
          }}
        />
        <Field
          label="Type, exactly"
          value={filter.type}
          onInput={(type) => {
            set({ type });
          }}
        />
        <Field
          label="A part of the error"
          type="search"
          isSearch
          value={filter.error}
          onInput={(error) => {
            set({ error });
          }}
        />
        <Field
          label="Minutes old, at least"
          value={filter.age}
          onInput={(age) => {
            set({ age: age.replace(/\D/g, '') });
          }}
        />
        <Choice
          label="State"
          value={filter.state}
          options={LETTER_STATES.map((state) => [state, state] as const)}
          onChange={(state) => {
            set({ state });
          }}
        />
      </form>
      <ProblemBox problem={problem} />
      {chosenKeys.length > 0 && (
        <div class="bulk" role="group" aria-label="What to do with the chosen keys">
          <strong>{amount(chosenKeys.length, 'key')} chosen</strong>
          <ChangeButton kind="main" onPress={() => retryKeys(name, chosenKeys).then(done)}>
            Retry
          </ChangeButton>
          <ChangeButton onPress={() => skipLetters(name, headsOf(chosenKeys, letters), done)}>
            Skip the first letter
          </ChangeButton>
          <ChangeButton kind="danger" onPress={() => discardLetters(name, chosenKeys, done)}>
            Discard all letters
          </ChangeButton>
          <Button
            onPress={() => {
              choose(new Set());
            }}
          >
            None
          </Button>
        </div>
      )}
      {answer !== null && letters.length === 0 && (
        <Nothing>{isAll(filter) ? 'No letter waits.' : 'No letter is like that.'}</Nothing>
      )}
      {letters.length > 0 && (
        <div class="table-box">
          <table class="rows letters">
            <caption class="unseen">
              Dead letters, in the order of storing; letters of one key are chosen together
            </caption>
            <thead>
              <tr>
                <th>
                  <input
                    type="checkbox"
                    aria-label="Choose all keys that are listed"
                    checked={chosenKeys.length === keys.length}
                    onChange={() => {
                      choose(chosenKeys.length === keys.length ? new Set() : new Set(keys));
                    }}
                  />
                </th>
                <th class="wide">Key</th>
                <th>Event</th>
                <th>Why it is here</th>
                <th>Stored</th>
                <th class="wide">Error</th>
              </tr>
            </thead>
            <tbody>
              {letters.map((letter) => (
                <LetterRow
                  key={letter.id}
                  pipeline={name}
                  letter={letter}
                  chosen={chosen.has(letter.event.key)}
                  onChoose={toggle}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {letters.length >= limit && letters.length < MOST && (
        <Button
          onPress={() => {
            setLimit(Math.min(MOST, limit + PAGE * 2));
          }}
        >
          Show more
        </Button>
      )}
      {letters.length >= MOST && (
        <p class="dim">The first {count(MOST)} are listed: narrow the filter for others.</p>
      )}
    </>
  );
}

function isAll({ key, type, error, age }: LetterFilter): boolean {
  return key === '' && type === '' && error === '' && age === '';
}

function meantBy({ key, type, error, state, age }: LetterFilter): Omit<Meant, 'all'> {
  return {
    ...(key === '' ? {} : { key }),
    ...(type === '' ? {} : { type }),
    ...(error === '' ? {} : { error }),
    ...(age === '' ? {} : { olderThan: Number(age) * 60_000 }),
    state,
  };
}

/** The first letters of keys, as far as they are listed: one that is parked after its followers is listed after them. */
function headsOf(keys: readonly string[], letters: readonly LetterAnswer[]): Heads {
  const first = (key: string): string =>
    letters.filter(({ event }) => event.key === key).reduce((a, b) => (a.place <= b.place ? a : b)).id;
  return new Map(keys.map((key) => [key, first(key)]));
}
