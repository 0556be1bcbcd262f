import { waitUntil } from '@strandline/test-kit';
import { prometheusMetrics, type PrometheusMetrics } from '@strandline/metrics';
import { describe, expect, test } from 'vitest';
import { FailingShop } from './failing-shop.js';

/** What a scrape finds: each series with its value. */
async function scrape(metrics: PrometheusMetrics): Promise<Map<string, number>> {
  const { body } = await metrics.render();
  return new Map(
    body
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

describe.each(['postgres', 'mysql'] as const)('%s: the numbers of a scrape', (kind) => {
  test('are what has happened: events, retries, letters, commits, and what the servers know', async () => {
    await using shop = await FailingShop.open(kind);
    shop.before = ({ key }, { attempt }) => {
      // Twice for each event of this key.
      if (key === 'b' && attempt <= 2) throw new Error('not yet');
      return undefined;
    };
    shop.broken.add('c');
    const running = await shop.start({ retry: { initialDelay: 5, maxDelay: 5, jitter: 'none' } });
    const metrics = prometheusMetrics({ pipelines: [running] });
    // Begins the first look at the servers.
    await scrape(metrics);
    const [, , , , c5, c6] = await shop.insert('aabbcc');
    await waitUntil('all is settled and saved', () => {
      const { settled, unsaved } = running.status();
      return Promise.resolve(settled === 6 && unsaved === 0);
    });
    await shop.untilWaiting('c', [c5, c6]);
    let found = await scrape(metrics);
    const of = (name: string, labels = ''): number | undefined =>
      found.get(`${name}{pipeline="shop"${labels}}`);
    expect({
      admitted: of('strandline_events_admitted_total'),
      settled: of('strandline_events_settled_total'),
      retries: of('strandline_handler_failures_total', ',outcome="retry"'),
      exhausted: of('strandline_handler_failures_total', ',outcome="exhausted"'),
      failed: of('strandline_letters_stored_total', ',reason="failed"'),
      behind: of('strandline_letters_stored_total', ',reason="behind"'),
      owner: of('strandline_owner'),
      epoch: of('strandline_epoch'),
      lag: of('strandline_lag_events'),
      parked: of('strandline_keys', ',state="parked"'),
      notSaved: of('strandline_commits_total', ',outcome="failed"'),
    }).toEqual({
      ...{ admitted: 6, settled: 6, retries: 4, exhausted: 1, failed: 1, behind: 1 },
      ...{ owner: 1, epoch: running.status().epoch, lag: 0, parked: 1, notSaved: 0 },
    });
    // Every call of a handler was timed: two of each a, six of b, one of c. Several may have come in one millisecond.
    const calls = of('strandline_handler_duration_seconds_count', ',kind="live"') ?? 0;
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThanOrEqual(9);
    expect(of('strandline_commit_to_handler_seconds_count')).toBeGreaterThan(0);
    expect(of('strandline_commits_total', ',outcome="saved"')).toBeGreaterThan(0);

    await waitUntil('the servers were looked at', async () => {
      found = await scrape(metrics);
      return found.has('strandline_log_retained_bytes{pipeline="shop"}');
    });
    expect(of('strandline_log_retained_bytes')).toBeGreaterThanOrEqual(0);
    if (kind === 'mysql') expect(of('strandline_log_purge_distance_bytes')).toBeGreaterThanOrEqual(0);

    shop.broken.delete('c');
    await shop.operator.retry('shop', {});
    await waitUntil('the letters are handled and the key is live', () =>
      Promise.resolve(running.totals().lettersHandled === 2 && running.status().parked === 0),
    );
    found = await scrape(metrics);
    expect(of('strandline_letters_handled_total')).toBe(2);
    expect(of('strandline_handler_duration_seconds_count', ',kind="letter"')).toBeGreaterThan(0);
    // A stopped pipeline still has its counts, and owns nothing.
    await running.stop();
    found = await scrape(metrics);
    expect(of('strandline_events_settled_total')).toBe(6);
    expect(of('strandline_owner')).toBe(0);
    expect(of('strandline_lag_events')).toBeUndefined();
    expect(of('strandline_state', ',state="stopped"')).toBe(1);
    metrics.close();
  });
});
