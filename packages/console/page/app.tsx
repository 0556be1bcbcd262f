import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PipelineAnswer } from '@strandline/admin';
import { HelpDialog } from './parts/help-dialog.tsx';
import { Notices } from './parts/notices.tsx';
import { PageTitle } from './parts/page-title.tsx';
import { ProblemBox } from './parts/problem.tsx';
import { QuestionDialog } from './parts/question-dialog.tsx';
import { Foreign } from './parts/text.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { Header } from './shell.tsx';
import { listenForShortcuts } from './keyboard/shortcuts.ts';
import type { Route } from './place/route.ts';
import { looks, trouble } from './state/live.ts';
import { place, refine } from './place/place.ts';
import { tokenAsked } from './browser/session.ts';
import { AuditView } from './views/audit.tsx';
import { HealthView } from './views/health.tsx';
import { KeyView } from './views/key.tsx';
import { KeysView } from './views/keys.tsx';
import { LettersView } from './views/letters.tsx';
import { OverviewView } from './views/overview.tsx';
import { PipelinesView } from './views/pipelines.tsx';
import { ReplaysView } from './views/replays.tsx';

export function App(): JSX.Element {
  const [helping, help] = useState(false);
  useEffect(
    () =>
      listenForShortcuts(() => {
        help(true);
      }),
    [],
  );
  const all = looks.value;
  const route = routeIn(all);
  useEffect(() => {
    if (route !== place.value) refine(route);
  }, [route]);
  if (tokenAsked.value) return <TokenForm />;
  const pipeline =
    route.view === 'pipelines' ? null : (all?.find(({ name }) => name === route.pipeline) ?? null);
  return (
    <>
      <Header
        pipeline={pipeline}
        onHelp={() => {
          help(true);
        }}
      />
      <main id="main" tabIndex={-1}>
        {all === null ? <Waiting /> : <View route={route} pipeline={pipeline} />}
      </main>
      <Notices />
      <QuestionDialog />
      {helping && (
        <HelpDialog
          onClose={() => {
            help(false);
          }}
        />
      )}
    </>
  );
}

function View({
  route,
  pipeline,
}: {
  readonly route: Route;
  readonly pipeline: PipelineAnswer | null;
}): JSX.Element {
  if (route.view === 'pipelines') return <PipelinesView />;
  if (pipeline === null) {
    return (
      <>
        <PageTitle title="No such pipeline" />
        <p>
          This process has none named <Foreign text={route.pipeline} />.{' '}
          <a href="#/">See those that it has.</a>
        </p>
      </>
    );
  }
  switch (route.view) {
    case 'overview':
      return <OverviewView key={pipeline.name} pipeline={pipeline} />;
    case 'keys':
      return <KeysView pipeline={pipeline} route={route} />;
    case 'key':
      return <KeyView key={`${pipeline.name} ${route.key}`} pipeline={pipeline} name={route.key} />;
    case 'letters':
      return <LettersView pipeline={pipeline} route={route} />;
    case 'replays':
      return <ReplaysView key={pipeline.name} pipeline={pipeline} />;
    case 'health':
      return <HealthView key={pipeline.name} pipeline={pipeline} />;
    case 'audit':
      return <AuditView pipeline={pipeline} />;
  }
}

/** Where there is one pipeline, it is the one that is meant. */
function routeIn(all: readonly PipelineAnswer[] | null): Route {
  const [only, ...others] = all ?? [];
  if (place.value.view !== 'pipelines' || only === undefined || others.length > 0) return place.value;
  return { view: 'overview', pipeline: only.name };
}

function Waiting(): JSX.Element {
  return (
    <>
      <PageTitle title="Strandline" />
      {trouble.value === null ? (
        <p class="dim">Asking the process …</p>
      ) : (
        <ProblemBox problem={trouble.value} />
      )}
    </>
  );
}
