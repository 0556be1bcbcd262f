import type { JSX } from 'preact';
import type { PipelineAnswer } from '@strandline/admin';
import { Badge } from './parts/badge.tsx';
import { Button } from './parts/button.tsx';
import { Choice } from './parts/field.tsx';
import { ALL_LETTERS, href, type Route } from './place/route.ts';
import { connection, looks, readOnly } from './state/live.ts';
import { go, place } from './place/place.ts';
import { theme, type Theme } from './browser/session.ts';

interface View {
  readonly title: string;
  readonly of: (pipeline: string) => Route;
  readonly has: readonly string[];
}

const OVERVIEW: View = {
  title: 'Overview',
  of: (pipeline) => ({ view: 'overview', pipeline }),
  has: ['overview'],
};
const VIEWS: readonly View[] = [
  OVERVIEW,
  {
    title: 'Keys',
    of: (pipeline) => ({ view: 'keys', pipeline, list: 'oldest', search: '' }),
    has: ['keys', 'key'],
  },
  {
    title: 'Dead letters',
    of: (pipeline) => ({ view: 'letters', pipeline, filter: ALL_LETTERS }),
    has: ['letters'],
  },
  { title: 'Bookmarks and replays', of: (pipeline) => ({ view: 'replays', pipeline }), has: ['replays'] },
  { title: 'Health and owners', of: (pipeline) => ({ view: 'health', pipeline }), has: ['health'] },
  { title: 'Audit log', of: (pipeline) => ({ view: 'audit', pipeline }), has: ['audit'] },
];

/** What is above every view: which pipeline, where one is, and whether what is shown is of now. */
export function Header({
  pipeline,
  onHelp,
}: {
  readonly pipeline: PipelineAnswer | null;
  readonly onHelp: () => void;
}): JSX.Element {
  const all = looks.value ?? [];
  const shown = VIEWS.find(({ has }) => has.includes(place.value.view));
  return (
    <header class="top">
      <a class="skip" href={location.hash} onClick={skipToMain}>
        To the content
      </a>
      <div class="bar">
        <a class="brand" href="#/">
          <img src="./icon.svg" alt="" width={22} height={22} /> Strandline
        </a>
        {pipeline !== null && (
          <Choice
            label="Pipeline"
            value={pipeline.name}
            options={all.map(({ name }) => [name, name] as const)}
            onChange={(name) => {
              go((shown ?? OVERVIEW).of(name));
            }}
          />
        )}
        <ConnectionBadge />
        {readOnly.value && <Badge tone="calm">read-only</Badge>}
        <span class="spring" />
        <Choice<Theme>
          label="Colours"
          value={theme.value}
          options={[
            ['auto', 'as the system'],
            ['light', 'light'],
            ['dark', 'dark'],
          ]}
          onChange={(chosen) => {
            theme.value = chosen;
          }}
        />
        <Button onPress={onHelp} label="Keyboard and name">
          ?
        </Button>
      </div>
      {pipeline !== null && (
        <nav class="views" aria-label="Views">
          {VIEWS.map((view) => (
            <a
              key={view.title}
              href={href(view.of(pipeline.name))}
              aria-current={view === shown ? 'page' : undefined}
            >
              {view.title}
            </a>
          ))}
        </nav>
      )}
    </header>
  );
}

function skipToMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function ConnectionBadge(): JSX.Element {
  switch (connection.value) {
    case 'live':
      return <Badge tone="good">live</Badge>;
    case 'connecting':
      return <Badge tone="calm">connecting</Badge>;
    case 'lost':
      return <Badge tone="bad">out of reach: what is shown is old</Badge>;
  }
}
