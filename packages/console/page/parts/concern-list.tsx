import type { JSX } from 'preact';
import type { Concern } from '../attention/attention.ts';
import { ALL_LETTERS, href, type Route } from '../place/route.ts';
import { now } from '../state/live.ts';
import { due } from '../text/times.ts';
import { Badge } from './badge.tsx';
import { KeyActions } from './key-actions.tsx';
import { Panel } from './panel.tsx';
import { Foreign, KeyText } from './text.tsx';

const WORDS = { down: ['bad', 'now'], stands: ['warn', 'stuck'], notice: ['calm', 'to know'] } as const;

/** What wants somebody to look, with what to press. */
export function ConcernList({
  pipeline,
  concerns,
}: {
  readonly pipeline: string;
  readonly concerns: readonly Concern[];
}): JSX.Element | null {
  if (concerns.length === 0) return null;
  return (
    <Panel title="Needs a look">
      <ul class="concerns">
        {concerns.map((concern, at) => (
          <One key={`${concern.key ?? ''} ${String(at)}`} pipeline={pipeline} concern={concern} />
        ))}
      </ul>
    </Panel>
  );
}

function One({ pipeline, concern }: { readonly pipeline: string; readonly concern: Concern }): JSX.Element {
  const { severity, key, what, why, holdsUp, strand } = concern;
  const [tone, word] = WORDS[severity];
  const route = routeOf(pipeline, concern);
  return (
    <li class={tone}>
      <div class="concern-text">
        <p>
          <Badge tone={tone}>{word}</Badge>{' '}
          {key !== null && (
            <>
              <a href={href({ view: 'key', pipeline, key })}>
                <KeyText text={key} />
              </a>{' '}
            </>
          )}
          <Foreign text={what} />
        </p>
        {why !== null && (
          <p class="why">
            <Foreign text={why.slice(0, 500)} />
          </p>
        )}
        {(holdsUp !== null || (strand?.nextTryAt ?? null) !== null) && (
          <p class="dim">
            {holdsUp !== null && `Holds up ${holdsUp}. `}
            {strand !== null && strand.nextTryAt !== null && `Next try ${due(strand.nextTryAt, now.value)}.`}
          </p>
        )}
      </div>
      <span class="tools">
        {strand !== null && <KeyActions pipeline={pipeline} strand={strand} held={strand.held} brief />}
        {route !== null && (
          <a class="button plain" href={href(route)} aria-label={`Look at it: ${key ?? what}`}>
            Look
          </a>
        )}
      </span>
    </li>
  );
}

function routeOf(pipeline: string, { leadsTo, key }: Concern): Route | null {
  switch (leadsTo) {
    case 'none':
      return null;
    case 'key':
      return key === null ? null : { view: 'key', pipeline, key };
    case 'oldest':
    case 'failing':
    case 'held':
      return { view: 'keys', pipeline, list: leadsTo, search: '' };
    case 'letters':
      return { view: 'letters', pipeline, filter: { ...ALL_LETTERS, key: key ?? '' } };
    case 'health':
      return { view: 'health', pipeline };
  }
}
