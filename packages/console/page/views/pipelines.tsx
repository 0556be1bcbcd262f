import type { JSX } from 'preact';
import type { PipelineAnswer } from '@strandline/admin';
import { concernsOf, verdictOf } from '../attention/attention.ts';
import { Badge, StateBadge } from '../parts/badge.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Foreign } from '../parts/text.tsx';
import { href } from '../place/route.ts';
import { looks, now } from '../state/live.ts';
import { bytes, count, rate } from '../text/numbers.ts';

/** All pipelines of the process, where it has several. */
export function PipelinesView(): JSX.Element {
  return (
    <>
      <PageTitle title="Pipelines" />
      <div class="table-box">
        <table>
          <caption class="unseen">The pipelines of this process</caption>
          <thead>
            <tr>
              <th>Pipeline</th>
              <th>State</th>
              <th class="wide">How it is</th>
              <th class="number">Events/s</th>
              <th class="number">Unsettled</th>
              <th class="number">Behind</th>
            </tr>
          </thead>
          <tbody>
            {(looks.value ?? []).map((pipeline) => (
              <Row key={pipeline.name} pipeline={pipeline} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ pipeline }: { readonly pipeline: PipelineAnswer }): JSX.Element {
  const { name, state, look, sample } = pipeline;
  const verdict = verdictOf(pipeline, concernsOf(pipeline, null, now.value));
  return (
    <tr>
      <td>
        <a href={href({ view: 'overview', pipeline: name })}>
          <Foreign text={name} />
        </a>
      </td>
      <td>
        <StateBadge state={state} />
      </td>
      <td class="wide">
        <Badge tone={verdict.tone}>{verdict.text}</Badge>
      </td>
      <td class="number" data-label="Events/s">
        {rate(sample?.settled)}
      </td>
      <td class="number" data-label="Unsettled">
        {count(look.unsettled)}
      </td>
      <td class="number" data-label="Behind">
        {bytes(look.source?.lagBytes)}
      </td>
    </tr>
  );
}
