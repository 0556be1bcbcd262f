import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BookmarkAnswer, PipelineAnswer, ReplayAnswer } from '@strandline/admin';
import { createBookmark, deleteBookmark, stopReplay } from '../actions/replays.ts';
import { get, ofPipeline } from '../api/client.ts';
import { StateBadge } from '../parts/badge.tsx';
import { Button, ChangeButton } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Nothing, Panel } from '../parts/panel.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Foreign } from '../parts/text.tsx';
import { now, readOnly } from '../state/live.ts';
import { usePolled } from '../state/polled.ts';
import { bytes, count, percent, rate } from '../text/numbers.ts';
import { ago, clock, span } from '../text/times.ts';
import { ReplayForm } from './replay-form.tsx';

/** Bookmarks, and replays from them. */
export function ReplaysView({ pipeline }: { readonly pipeline: PipelineAnswer }): JSX.Element {
  const { name } = pipeline;
  const bookmarks = usePolled(
    `bookmarks ${name}`,
    (signal) => get<{ bookmarks: readonly BookmarkAnswer[] }>(ofPipeline(name, '/bookmarks'), {}, signal),
    5_000,
  );
  const replays = usePolled(
    `replays ${name}`,
    (signal) => get<{ replays: readonly ReplayAnswer[] }>(ofPipeline(name, '/replays'), {}, signal),
    1_000,
  );
  const [from, setFrom] = useState<string | null>(null);
  const known = bookmarks.answer?.bookmarks ?? [];
  return (
    <>
      <PageTitle title="Bookmarks and replays" />
      <Panel title="Replays">
        <ProblemBox problem={replays.problem} />
        {replays.answer?.replays.length === 0 && (
          <Nothing>None was started from here since this process began.</Nothing>
        )}
        <ul class="replays">
          {(replays.answer?.replays ?? []).map((replay) => (
            <ReplayRow key={replay.name} pipeline={name} replay={replay} />
          ))}
        </ul>
      </Panel>
      <Panel title="Bookmarks">
        <ProblemBox problem={bookmarks.problem} />
        <NewBookmark pipeline={name} onMade={bookmarks.again} />
        {bookmarks.answer !== null && known.length === 0 && (
          <Nothing>
            There is none: set one before you change something, to be able to replay from there.
          </Nothing>
        )}
        {known.length > 0 && (
          <div class="table-box">
            <table>
              <caption class="unseen">Bookmarks</caption>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Set</th>
                  <th class="number">Log since</th>
                  <th>Can be read</th>
                  <th class="wide">Position</th>
                  <th>
                    <span class="unseen">What to do with it</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {known.map((bookmark) => (
                  <tr key={bookmark.name}>
                    <td>
                      <Foreign text={bookmark.name} />
                    </td>
                    <td data-label="Set" title={clock(bookmark.createdAt)}>
                      {ago(bookmark.createdAt, now.value)}
                    </td>
                    <td class="number" data-label="Log since">
                      {bytes(bookmark.bytes)}
                    </td>
                    <td data-label="Can be read">
                      {bookmark.reachable === null ? '–' : bookmark.reachable ? 'yes' : 'no more'}
                    </td>
                    <td data-label="Position" class="wide position">
                      <code>{bookmark.position}</code>
                    </td>
                    <td>
                      <span class="tools">
                        <ChangeButton
                          kind="main"
                          label={`Replay from ${bookmark.name}`}
                          onPress={() => {
                            setFrom(bookmark.name);
                            document.getElementById('replay-form')?.scrollIntoView();
                          }}
                        >
                          Replay from here
                        </ChangeButton>
                        <ChangeButton
                          label={`Delete ${bookmark.name}`}
                          onPress={() => deleteBookmark(name, bookmark).then(bookmarks.again)}
                        >
                          Delete
                        </ChangeButton>
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {!readOnly.value && (
        <ReplayForm
          key={from ?? ''}
          pipeline={name}
          bookmarks={known}
          bookmark={from}
          onStarted={replays.again}
        />
      )}
    </>
  );
}

function ReplayRow({
  pipeline,
  replay,
}: {
  readonly pipeline: string;
  readonly replay: ReplayAnswer;
}): JSX.Element {
  const {
    name,
    state,
    dryRun,
    events,
    skipped,
    retries,
    progress,
    rate: speed,
    remaining,
    duration,
    error,
  } = replay;
  return (
    <li>
      <p>
        <strong>{name}</strong> <StateBadge state={state} /> {dryRun && <span class="dim">dry run</span>}
      </p>
      <progress
        aria-label={`Progress of ${name}`}
        max={1}
        value={state === 'completed' ? 1 : (progress ?? 0)}
      />
      <p class="dim">
        {percent(state === 'completed' ? 1 : progress)}, {count(events)} events, {count(skipped)} left out,{' '}
        {count(retries)} tried again, {rate(speed)}/s
        {remaining !== null && state === 'running' && `, ${span(remaining)} to go`}, {span(duration)}
        {state === 'running' && ' so far'}
      </p>
      {error !== null && (
        <p class="why">
          <Foreign text={`${error.problem} ${error.remedy}`} />
        </p>
      )}
      {state === 'running' && (
        <ChangeButton label={`Stop ${name}`} onPress={() => stopReplay(pipeline, name)}>
          Stop
        </ChangeButton>
      )}
    </li>
  );
}

function NewBookmark({
  pipeline,
  onMade,
}: {
  readonly pipeline: string;
  readonly onMade: () => void;
}): JSX.Element {
  const [name, setName] = useState('');
  const make = async (): Promise<void> => {
    if (name.trim() === '') return;
    if (await createBookmark(pipeline, name.trim(), null)) setName('');
    onMade();
  };
  return (
    <form
      class="filters single"
      onSubmit={(event) => {
        event.preventDefault();
        if (!readOnly.value) void make();
      }}
    >
      <Field
        label="A name for the end of the log as it is now"
        value={name}
        onInput={setName}
        maxLength={100}
      />
      <Button kind="main" disabled={name.trim() === '' || readOnly.value} onPress={make}>
        Set a bookmark
      </Button>
    </form>
  );
}
