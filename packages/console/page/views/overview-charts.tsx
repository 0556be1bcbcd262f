import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Sample } from '@strandline/admin';
import { Chart } from '../parts/chart.tsx';
import { histories, recall } from '../state/history.ts';
import { bytes, count, percent, rate } from '../text/numbers.ts';
import { seconds } from '../text/times.ts';

/** The last quarter of an hour. */
export function OverviewCharts({ pipeline }: { readonly pipeline: string }): JSX.Element {
  useEffect(() => {
    // What is missing of it comes with the looks.
    recall(pipeline).catch(() => undefined);
  }, [pipeline]);
  const samples = histories.value.get(pipeline);
  const times = useMemo(() => (samples ?? []).map(({ at }) => at / 1_000), [samples]);
  const all = samples ?? [];
  const newest = all.at(-1);
  const values = (of: (sample: Sample) => number | null | undefined): (number | null)[] =>
    all.map((sample) => of(sample) ?? null);
  return (
    <section class="charts" aria-label="The last quarter of an hour">
      <Chart
        title="Events per second"
        times={times}
        format={rate}
        series={[
          {
            name: 'read',
            colour: 'series-1',
            values: values(({ admitted }) => admitted),
            now: rate(newest?.admitted),
          },
          {
            name: 'settled',
            colour: 'series-2',
            values: values(({ settled }) => settled),
            now: rate(newest?.settled),
          },
          {
            name: 'failed, tried again',
            colour: 'series-3',
            values: values(({ retries }) => retries),
            now: rate(newest?.retries),
          },
        ]}
      />
      <Chart
        title="Commit to handler"
        times={times}
        format={seconds}
        series={[
          {
            name: 'p50',
            colour: 'series-1',
            values: values(({ sinceCommit }) => sinceCommit?.p50),
            now: seconds(newest?.sinceCommit?.p50),
          },
          {
            name: 'p99',
            colour: 'series-3',
            values: values(({ sinceCommit }) => sinceCommit?.p99),
            now: seconds(newest?.sinceCommit?.p99),
          },
        ]}
      />
      <Chart
        title="Handler"
        times={times}
        format={seconds}
        series={[
          {
            name: 'p50',
            colour: 'series-1',
            values: values(({ handler }) => handler?.p50),
            now: seconds(newest?.handler?.p50),
          },
          {
            name: 'p99',
            colour: 'series-3',
            values: values(({ handler }) => handler?.p99),
            now: seconds(newest?.handler?.p99),
          },
        ]}
      />
      <Chart
        title="Lag: unsettled events"
        times={times}
        format={count}
        series={[
          {
            name: 'events',
            colour: 'series-1',
            values: values(({ unsettled }) => unsettled),
            now: count(newest?.unsettled),
          },
        ]}
      />
      <Chart
        title="Lag: age of the oldest, log not read"
        times={times}
        format={seconds}
        series={[
          {
            name: 'age',
            colour: 'series-3',
            values: values(({ oldestAge }) => oldestAge),
            now: `${seconds(newest?.oldestAge)}, ${bytes(newest?.lagBytes)} not read`,
          },
        ]}
      />
      <Chart
        title="Window used"
        times={times}
        format={percent}
        most={1}
        series={[
          {
            name: 'of the limit',
            colour: 'series-2',
            values: values(({ window }) => window),
            now: percent(newest?.window),
          },
        ]}
      />
    </section>
  );
}
