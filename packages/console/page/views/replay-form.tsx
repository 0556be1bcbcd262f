import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BookmarkAnswer } from '@strandline/admin';
import { startReplay, type Place, type ReplayWish } from '../actions/replays.ts';
import { ChangeButton } from '../parts/button.tsx';
import { Choice, Field } from '../parts/field.tsx';
import { Panel } from '../parts/panel.tsx';

type Kind = 'bookmark' | 'position' | 'time' | 'earliest' | 'now';

/** What is to be handled again. */
export function ReplayForm({
  pipeline,
  bookmarks,
  bookmark,
  onStarted,
}: {
  readonly pipeline: string;
  readonly bookmarks: readonly BookmarkAnswer[];
  readonly bookmark: string | null;
  readonly onStarted: () => void;
}): JSX.Element {
  const [from, setFrom] = useState<Kind>(bookmark === null ? 'earliest' : 'bookmark');
  const [fromText, setFromText] = useState(bookmark ?? '');
  const [to, setTo] = useState<Kind>('now');
  const [toText, setToText] = useState('');
  const [key, setKey] = useState('');
  const [type, setType] = useState('');
  const [handler, setHandler] = useState('');
  const [name, setName] = useState('');
  const start = async (dryRun: boolean): Promise<void> => {
    const wish: ReplayWish = {
      from: from === 'earliest' ? 'earliest' : placeOf(from, fromText),
      ...(to === 'now' ? {} : { to: placeOf(to, toText) }),
      ...(key === '' ? {} : { key }),
      ...(type === '' ? {} : { type }),
      ...(handler === '' ? {} : { handler }),
      ...(name === '' ? {} : { as: name }),
      ...(dryRun ? { dryRun: true } : {}),
    };
    if (await startReplay(pipeline, wish)) onStarted();
  };
  return (
    <div id="replay-form">
      <Panel title="Replay a part of the log">
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
          }}
        >
          <Choice
            label="From"
            value={from}
            options={[
              ['bookmark', 'a bookmark'],
              ['time', 'a time'],
              ['position', 'a position'],
              ['earliest', 'the oldest that the log has'],
            ]}
            onChange={setFrom}
          />
          <PlaceField
            label="Which one it begins after"
            kind={from}
            value={fromText}
            bookmarks={bookmarks}
            onInput={setFromText}
          />
          <Choice
            label="Up to"
            value={to}
            options={[
              ['now', 'the end as it is now'],
              ['bookmark', 'a bookmark'],
              ['time', 'a time'],
              ['position', 'a position'],
            ]}
            onChange={setTo}
          />
          <PlaceField
            label="Which one it ends with"
            kind={to}
            value={toText}
            bookmarks={bookmarks}
            onInput={setToText}
          />
          <Field label="Only this key" value={key} onInput={setKey} />
          <Field label="Only this type" value={type} onInput={setType} />
          <Field
            label="By this handler"
            value={handler}
            onInput={setHandler}
            placeholder="the pipeline's own"
          />
          <Field
            label="Under this name"
            value={name}
            onInput={setName}
            placeholder={`${pipeline}-replay`}
            maxLength={50}
          />
        </form>
        <div class="tools">
          <ChangeButton kind="main" onPress={() => start(false)}>
            Replay
          </ChangeButton>
          <ChangeButton onPress={() => start(true)}>Only count (dry run)</ChangeButton>
        </div>
      </Panel>
    </div>
  );
}

function PlaceField({
  label,
  kind,
  value,
  bookmarks,
  onInput,
}: {
  readonly label: string;
  readonly kind: Kind;
  readonly value: string;
  readonly bookmarks: readonly BookmarkAnswer[];
  readonly onInput: (value: string) => void;
}): JSX.Element | null {
  if (kind === 'earliest' || kind === 'now') return null;
  if (kind === 'bookmark') {
    const names = bookmarks.map(({ name }) => name);
    const options = ['', ...names].map((name) => [name, name === '' ? 'choose one' : name] as const);
    return (
      <Choice label={label} value={names.includes(value) ? value : ''} options={options} onChange={onInput} />
    );
  }
  return (
    <Field
      label={label}
      value={value}
      onInput={onInput}
      placeholder={kind === 'time' ? '2026-05-01T12:00:00Z' : ''}
      {...(kind === 'time' ? { hint: 'With its zone, such as Z or +02:00' } : {})}
    />
  );
}

function placeOf(kind: Kind, text: string): Exclude<Place, 'earliest'> {
  switch (kind) {
    case 'position':
      return { position: text.trim() };
    case 'time':
      return { time: text.trim() };
    default:
      return { bookmark: text };
  }
}
