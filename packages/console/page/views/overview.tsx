import type { JSX } from 'preact';
import type { PipelineAnswer, StrandListAnswer } from '@strandline/admin';
import { pausePipeline, resumePipeline } from '../actions/pipelines.ts';
import { get, ofPipeline } from '../api/client.ts';
import { concernsOf, NAMED, verdictOf } from '../attention/attention.ts';
import { StateBadge } from '../parts/badge.tsx';
import { ChangeButton } from '../parts/button.tsx';
import { ConcernList } from '../parts/concern-list.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Facts, Panel } from '../parts/panel.tsx';
import { KeyText } from '../parts/text.tsx';
import { href } from '../place/route.ts';
import { now } from '../state/live.ts';
import { usePolled } from '../state/polled.ts';
import { bytes, count, percent } from '../text/numbers.ts';
import { seconds } from '../text/times.ts';
import { visible } from '../text/visible.ts';
import { OverviewCharts } from './overview-charts.tsx';
import { OwnerLine } from './owner-line.tsx';

/** What an operator sees first: how it is, what stands and why, what to press; then how it was lately. */
export function OverviewView({ pipeline }: { readonly pipeline: PipelineAnswer }): JSX.Element {
  const { name, state, look } = pipeline;
  const owned = state === 'running';
  const { answer } = usePolled(`trouble ${name} ${String(owned)}`, async (signal) => {
    if (!owned) return [];
    const path = ofPipeline(name, '/strands');
    const [failing, stuck] = await Promise.all([
      get<StrandListAnswer>(path, { sort: 'failing', limit: NAMED }, signal),
      get<StrandListAnswer>(path, { state: 'stuck', limit: NAMED }, signal),
    ]);
    const keys = new Set(stuck.strands.map(({ key }) => key));
    return [...stuck.strands, ...failing.strands.filter(({ key }) => !keys.has(key))];
  });
  const concerns = concernsOf(pipeline, answer ?? [], now.value);
  const verdict = verdictOf(pipeline, concerns);
  return (
    <>
      <PageTitle
        title={`Overview of ${visible(name, 60)}`}
        tools={
          look.paused === 'operator' ? (
            <ChangeButton kind="main" onPress={() => resumePipeline(name)}>
              Resume the pipeline
            </ChangeButton>
          ) : (
            <ChangeButton onPress={() => pausePipeline(name)}>Pause the pipeline</ChangeButton>
          )
        }
      >
        Overview
      </PageTitle>
      <p class={`verdict ${verdict.tone}`}>{verdict.text}</p>
      {state === 'standby' && <OwnerLine pipeline={name} />}
      <ConcernList pipeline={name} concerns={concerns} />
      <OverviewCharts pipeline={name} />
      <Panel title="Now">
        <Facts
          facts={[
            ['State', <StateBadge state={state} />],
            ['Epoch', pipeline.epoch === null ? '–' : String(pipeline.epoch)],
            ['Source', `${pipeline.source}${look.source === null ? '' : `, ${look.source.state}`}`],
            ['Log not read yet', bytes(look.source?.lagBytes)],
            ['Live keys', count(look.strands)],
            ['Handlers running', count(look.running)],
            ['Unsettled events', `${count(look.unsettled)} of ${count(pipeline.window.events)}`],
            ['Their bytes', `${bytes(look.bytes)} of ${bytes(pipeline.window.bytes)}`],
            [
              'Window used',
              percent(Math.max(look.unsettled / pipeline.window.events, look.bytes / pipeline.window.bytes)),
            ],
            ['Settled, not saved', count(look.unsaved)],
            [
              'Everything is settled up to',
              look.watermarkAge === null ? '–' : `${seconds(look.watermarkAge)} ago`,
            ],
            ['Keys in backoff', count(look.backoff)],
            ['Keys held', count(look.held)],
            ['Keys parked', count(look.parked)],
            ['Reconnects', count(look.source?.reconnects)],
            ['Offsets in', pipeline.offsets],
            [
              'Oldest unsettled',
              look.oldest === null ? (
                'none'
              ) : (
                <a href={href({ view: 'key', pipeline: name, key: look.oldest.key })}>
                  <KeyText text={look.oldest.key} /> {seconds(look.oldest.age)}
                </a>
              ),
            ],
          ]}
        />
      </Panel>
    </>
  );
}
