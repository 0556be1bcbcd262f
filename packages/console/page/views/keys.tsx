import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { PipelineAnswer, StrandAnswer, StrandListAnswer } from '@strandline/admin';
import { holdKey, parkHead, releaseKey, retryHead, retryHeads } from '../actions/keys.ts';
import { get, ofPipeline, type Query } from '../api/client.ts';
import { holdsUpText } from '../attention/attention.ts';
import { StateBadge } from '../parts/badge.tsx';
import { Button, ChangeButton } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { RETRIABLE } from '../parts/key-actions.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Nothing } from '../parts/panel.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Foreign, KeyText } from '../parts/text.tsx';
import { ALL_LETTERS, href, KEY_LISTS, type KeyList, type Route } from '../place/route.ts';
import { useCursor } from '../keyboard/cursor.ts';
import { now, readOnly } from '../state/live.ts';
import { go, refine } from '../place/place.ts';
import { usePolled } from '../state/polled.ts';
import { amount, count } from '../text/numbers.ts';
import { due, span } from '../text/times.ts';

const LISTS: Readonly<
  Record<KeyList, { readonly title: string; readonly query: Query; readonly none: string }>
> = {
  oldest: { title: 'Oldest', query: { sort: 'age' }, none: 'No key has anything to do.' },
  failing: { title: 'Failing', query: { sort: 'failing' }, none: 'No key fails.' },
  slowest: { title: 'Slowest', query: { sort: 'slowest' }, none: 'No handler runs.' },
  busiest: { title: 'Busiest', query: { sort: 'depth' }, none: 'No key has anything to do.' },
  stuck: { title: 'Stuck', query: { state: 'stuck' }, none: 'No handler takes longer than handlerTimeout.' },
  held: { title: 'Held', query: { state: 'held' }, none: 'No key that is held has events here.' },
};

/** Rows of a page, and the most that the API gives at once: whoever looks for others searches. */
const PAGE = 100;
const MOST = 1_000;
/** Milliseconds between looks, and so many more for each row: drawing a thousand takes the page a tenth of a second. */
const EVERY = 2_000;
const EVERY_PER_ROW = 4;

const NONE: readonly StrandAnswer[] = [];

/** The live keys: what comes first is chosen, the others are searched for. */
export function KeysView({
  pipeline,
  route,
}: {
  readonly pipeline: PipelineAnswer;
  readonly route: Route & { view: 'keys' };
}): JSX.Element {
  const { list, search } = route;
  const { name } = pipeline;
  const [limit, setLimit] = useState(PAGE);
  const asked = { ...LISTS[list].query, search, limit };
  const { answer, problem } = usePolled(
    `strands ${name} ${JSON.stringify({ ...asked, limit: 0 })}`,
    (signal) => get<StrandListAnswer>(ofPipeline(name, '/strands'), asked, signal),
    EVERY + EVERY_PER_ROW * (limit - PAGE),
  );
  const strands = answer?.strands ?? NONE;
  const headOf = ({ key, head }: StrandAnswer) => ({ pipeline: name, key, position: head.position });
  const retriable = strands.filter(({ state }) => RETRIABLE.includes(state));
  const chosen = useCursor(strands, ({ key }) => key, {
    Enter: ({ key }) => {
      go({ view: 'key', pipeline: name, key });
    },
    ...(readOnly.value
      ? {}
      : {
          r: (strand: StrandAnswer) => RETRIABLE.includes(strand.state) && retryHead(headOf(strand)),
          p: (strand: StrandAnswer) => parkHead(headOf(strand)),
          h: (strand: StrandAnswer) => (strand.held ? releaseKey(headOf(strand)) : holdKey(headOf(strand))),
        }),
  });
  return (
    <>
      <PageTitle
        title="Keys"
        tools={
          list === 'failing' &&
          retriable.length > 0 && (
            <ChangeButton onPress={() => retryHeads(name, retriable.map(headOf))}>
              Retry the {amount(retriable.length, 'key')} that {retriable.length === 1 ? 'is' : 'are'} shown
            </ChangeButton>
          )
        }
      />
      <nav class="tabs" aria-label="Which keys">
        {KEY_LISTS.map((one) => (
          <a key={one} href={href({ ...route, list: one })} aria-current={one === list ? 'page' : undefined}>
            {LISTS[one].title}
          </a>
        ))}
        <a href={href({ view: 'letters', pipeline: name, filter: ALL_LETTERS })}>Parked</a>
      </nav>
      <form
        class="filters single"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (search !== '') go({ view: 'key', pipeline: name, key: search });
        }}
      >
        <Field
          label="A part of the key; Enter opens the key of just that name"
          type="search"
          isSearch
          value={search}
          onInput={(text) => {
            refine({ ...route, search: text });
          }}
        />
      </form>
      <ProblemBox problem={problem} />
      {answer !== null && (
        <p class="dim" aria-live="polite">
          {amount(answer.live, 'live key')}; {count(strands.length)} shown
          {answer.next !== null && strands.length >= MOST && ': search for others'}
        </p>
      )}
      {answer !== null && strands.length === 0 && (
        <Nothing>
          {search === ''
            ? LISTS[list].none
            : 'No live key has that in it. Enter looks for its letters and holds, too.'}
        </Nothing>
      )}
      {strands.length > 0 && (
        <Table pipeline={name} title={LISTS[list].title} strands={strands} chosen={chosen} />
      )}
      {answer !== null && answer.next !== null && strands.length < MOST && (
        <Button
          onPress={() => {
            setLimit(Math.min(MOST, limit + PAGE * 2));
          }}
        >
          Show more
        </Button>
      )}
    </>
  );
}

/** Drawn anew when its strands were looked at again, and not with every look at the pipeline. */
function Table({
  pipeline,
  title,
  strands,
  chosen,
}: {
  readonly pipeline: string;
  readonly title: string;
  readonly strands: readonly StrandAnswer[];
  readonly chosen: string | null;
}): JSX.Element {
  return useMemo(
    () => (
      <div class="table-box">
        <table class="rows keys">
          <caption class="unseen">{title} keys</caption>
          <thead>
            <tr>
              <th>Key</th>
              <th>State</th>
              <th class="number">Events</th>
              <th class="number">Age of first</th>
              <th>What is the matter</th>
            </tr>
          </thead>
          <tbody>
            {strands.map((strand) => (
              <Row key={strand.key} pipeline={pipeline} strand={strand} chosen={strand.key === chosen} />
            ))}
          </tbody>
        </table>
      </div>
    ),
    [pipeline, title, strands, chosen],
  );
}

/** Not drawn anew with every step of the cursor. */
function Row({
  pipeline,
  strand,
  chosen,
}: {
  readonly pipeline: string;
  readonly strand: StrandAnswer;
  readonly chosen: boolean;
}): JSX.Element {
  const { key, state, depth, age } = strand;
  return useMemo(
    () => (
      <tr data-row={key} class={chosen ? 'chosen' : ''} aria-selected={chosen}>
        <td class="wide">
          <a href={href({ view: 'key', pipeline, key })}>
            <KeyText text={key} />
          </a>
        </td>
        <td>
          <StateBadge state={state} />
        </td>
        <td class="number" data-label="Events">
          {count(depth)}
        </td>
        <td class="number" data-label="Age of first">
          {span(age)}
        </td>
        <td class="wide">
          <Matter strand={strand} />
        </td>
      </tr>
    ),
    [pipeline, strand, chosen],
  );
}

function Matter({ strand }: { readonly strand: StrandAnswer }): JSX.Element | null {
  const { lastError, attempts, nextTryAt, turn } = strand;
  const holdsUp = strand.holdsUp.watermark === null ? null : holdsUpText(strand);
  return (
    <>
      {turn !== null && <span>runs for {span(turn.runningFor)} </span>}
      {lastError !== null && (
        <span class="why">
          {amount(attempts, 'attempt')},{' '}
          <Foreign text={`${lastError.code ?? lastError.name}: ${lastError.message.slice(0, 160)}`} />
        </span>
      )}
      {nextTryAt !== null && <span class="dim"> next try {due(nextTryAt, now.peek())}</span>}
      {holdsUp !== null && <span class="dim"> holds up {holdsUp}</span>}
    </>
  );
}
