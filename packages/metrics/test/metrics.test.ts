import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MeterProvider, MetricReader, DataPointType } from '@opentelemetry/sdk-metrics';
import { OwnershipLostError, StrandlineError, type LogState } from '@strandline/core';
import { definePipeline, type Pipeline } from '@strandline/pipeline';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { event, FakeStore, gate, keptLog, offsetAt, STEADY, until } from '../../pipeline/test/fixtures.js';
import { ScriptedSource, ScriptedStream } from '../../pipeline/test/scripted-source.js';
import { HISTOGRAMS } from '../src/histograms.js';
import { INSTRUMENTS } from '../src/instruments.js';
import { openTelemetryMetrics } from '../src/open-telemetry.js';
import { prometheusMetrics } from '../src/prometheus.js';
import { LOOK_EVERY, ServerLooks } from '../src/server-looks.js';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const AWAY = new StrandlineError('PG_UNREACHABLE', 'It is away.', 'Start it.', { transient: true });

class Shop {
  readonly stream = new ScriptedStream(offsetAt(0));
  readonly slow = gate();
  looks = 0;
  away = false;
  readonly pipeline: Pipeline;

  constructor(name = 'shop', look: () => Promise<Partial<LogState>> = () => Promise.resolve({})) {
    const source = new ScriptedSource(() =>
      this.away ? Promise.reject(AWAY) : Promise.resolve(this.stream),
    );
    this.pipeline = definePipeline({
      name,
      source: Object.assign(source, {
        inspect: () => {
          this.looks += 1;
          return look();
        },
      }),
      offsets: new FakeStore(),
      retry: { ...STEADY, attempts: 3, initialDelay: 1 },
      commitInterval: 1,
      log: keptLog().log,
      handle: ({ key }, { attempt }) => {
        if (key === 'slow') return this.slow.promise;
        if (key === 'bad' || (key === 'twice' && attempt < 2)) throw new Error('no');
        return undefined;
      },
    });
    ends.push(async () => {
      this.slow.open();
      await this.pipeline.stop();
    });
  }

  /** Five events: two are settled at once, one at its second attempt, one never, one while `slow` is shut. */
  async run(): Promise<this> {
    await this.pipeline.start();
    this.stream.give(['a', 'b', 'twice', 'bad', 'slow'].map((key, n) => event(key, n + 1)));
    await until('all is done that can be', () => {
      const { settled, halted } = this.pipeline.status();
      return settled === 3 && halted === 1;
    });
    return this;
  }
}

/** The value of one series; undefined where it is not there. */
function valueIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('metrics for Prometheus', () => {
  it('say what has happened and what goes on', async () => {
    const shop = new Shop();
    const metrics = prometheusMetrics({ pipelines: [shop.pipeline] });
    ends.push(() => {
      metrics.close();
    });
    const before = await metrics.render();
    expect(valueIn(before.body, 'strandline_state{pipeline="shop",state="idle"}')).toBe(1);
    expect(valueIn(before.body, 'strandline_lag_events{pipeline="shop"}')).toBeUndefined();
    await shop.run();
    const { body, contentType } = await metrics.render();
    expect(contentType).toContain('text/plain');
    const expected = {
      'strandline_events_admitted_total{pipeline="shop"}': 5,
      'strandline_events_settled_total{pipeline="shop"}': 3,
      'strandline_duplicates_skipped_total{pipeline="shop"}': 0,
      'strandline_handler_failures_total{pipeline="shop",outcome="retry"}': 3,
      'strandline_handler_failures_total{pipeline="shop",outcome="exhausted"}': 1,
      'strandline_ownership_changes_total{pipeline="shop",outcome="gained"}': 1,
      'strandline_state{pipeline="shop",state="running"}': 1,
      'strandline_state{pipeline="shop",state="idle"}': 0,
      'strandline_owner{pipeline="shop"}': 1,
      'strandline_epoch{pipeline="shop"}': 3,
      'strandline_lag_events{pipeline="shop"}': 2,
      'strandline_lag_is_minimum{pipeline="shop"}': 0,
      'strandline_lag_bytes{pipeline="shop"}': 0,
      'strandline_window_use_ratio{pipeline="shop"}': 0.000_2,
      'strandline_keys{pipeline="shop",state="halted"}': 1,
      'strandline_keys{pipeline="shop",state="running"}': 1,
      'strandline_keys{pipeline="shop",state="live"}': 2,
    };
    const found = Object.fromEntries(Object.keys(expected).map((series) => [series, valueIn(body, series)]));
    expect(found).toEqual(expected);
    expect(valueIn(body, 'strandline_oldest_unsettled_age_seconds{pipeline="shop"}')).toBeGreaterThan(60);
    expect(valueIn(body, 'strandline_lag_seconds{pipeline="shop"}')).toBeGreaterThan(60);
    expect(
      valueIn(body, 'strandline_handler_duration_seconds_count{pipeline="shop",kind="live"}'),
    ).toBeGreaterThan(0);
    expect(valueIn(body, 'strandline_commit_duration_seconds_count{pipeline="shop"}')).toBeGreaterThan(0);
  });

  it('tell pipelines apart, and have no other label than those of their list', async () => {
    const [shop, mail] = [await new Shop().run(), new Shop('mail')];
    const metrics = prometheusMetrics({ pipelines: [shop.pipeline, mail.pipeline] });
    ends.push(() => {
      metrics.close();
    });
    const { body } = await metrics.render();
    expect(valueIn(body, 'strandline_events_settled_total{pipeline="shop"}')).toBe(3);
    expect(valueIn(body, 'strandline_events_settled_total{pipeline="mail"}')).toBe(0);
    const known = new Map([...INSTRUMENTS, ...HISTOGRAMS].map(({ name, labels }) => [name, labels]));
    for (const metric of await metrics.registry.getMetricsAsJSON()) {
      const allowed = new Set(['pipeline', 'le', ...(known.get(metric.name) ?? [])]);
      for (const { labels } of metric.values)
        expect(Object.keys(labels).filter((label) => !allowed.has(label))).toEqual([]);
    }
    // Keys of events are nowhere.
    expect(body).not.toMatch(/"(bad|twice|slow)"/);
  });

  it('share the registry of the application, and leave it as they found it', async () => {
    const registry = new Registry();
    const metrics = prometheusMetrics({ pipelines: [new Shop().pipeline], registry });
    expect(metrics.registry).toBe(registry);
    expect(await registry.metrics()).toContain('strandline_state');
    metrics.close();
    metrics.close();
    expect(await registry.metrics()).not.toContain('strandline_');
  });

  it('count on when the process has given up the log and owns it again', async () => {
    const shop = await new Shop().run();
    shop.slow.open();
    await shop.pipeline.stop();
    expect(shop.pipeline.totals()).toMatchObject({ admitted: 5, settled: 4 });
  });

  it('own nothing once the log is lost, while it can not be opened again', async () => {
    const shop = await new Shop().run();
    const metrics = prometheusMetrics({ pipelines: [shop.pipeline] });
    ends.push(() => {
      metrics.close();
    });
    shop.slow.open();
    shop.away = true;
    shop.stream.fail(new OwnershipLostError('Gone.'));
    await until('it is tried again', () => shop.pipeline.status().notOpened !== null);
    const { body } = await metrics.render();
    expect(valueIn(body, 'strandline_owner{pipeline="shop"}')).toBe(0);
    expect(valueIn(body, 'strandline_lag_events{pipeline="shop"}')).toBeUndefined();
    expect(valueIn(body, 'strandline_events_settled_total{pipeline="shop"}')).toBe(4);
  });

  it.each([
    [{}, 'pipelines is missing'],
    [{ pipelines: [] }, 'must have a pipeline'],
    [{ pipelines: [{}] }, 'must be a pipeline'],
    [{ pipelines: [new Shop().pipeline, new Shop().pipeline] }, 'a name each'],
    [{ pipelines: [new Shop().pipeline], registry: {} }, 'must be a Registry'],
    [{ pipelines: [new Shop().pipeline], port: 9_464 }, 'port'],
  ])('are not made of %j', (options, rule) => {
    expect(() => prometheusMetrics(options as never)).toThrow(
      expect.objectContaining({ code: 'METRICS_CONFIG', message: expect.stringContaining(rule) as string }),
    );
  });
});

describe('looks at servers', () => {
  const close = (): Promise<void> => Promise.resolve();
  const log: Partial<LogState> = {
    earliest: 'p0',
    retainedBytes: 900,
    bytesBehind: (position) => 1_000 - Number(position.slice(1)) * 100,
  };

  it('are none while nobody asks, then one at most every 15 seconds, and nobody waits for them', async () => {
    let now = 0;
    const shop = await new Shop('shop', () => Promise.resolve(log)).run();
    const looks = new ServerLooks(shop.pipeline, () => now);
    ends.push(() => {
      looks.close();
    });
    expect(shop.looks).toBe(0);
    expect(looks.latest()).toBeNull();
    expect(looks.latest()).toBeNull();
    await looks.idle();
    expect(looks.latest()).toMatchObject({ retainedBytes: 900, letters: null, at: 0 });
    expect(shop.looks).toBe(1);
    now = LOOK_EVERY - 1;
    looks.latest();
    expect(shop.looks).toBe(1);
    now = LOOK_EVERY;
    expect(looks.latest()).toMatchObject({ at: 0 });
    await looks.idle();
    expect(looks.latest()).toMatchObject({ at: LOOK_EVERY });
    expect(shop.looks).toBe(2);
  });

  it('find how far the server is from removing what is needed, or what it says itself', async () => {
    const shop = await new Shop('shop', () => Promise.resolve(log)).run();
    await until('two are saved', () => shop.pipeline.status().savedWatermark === 'p3');
    const looks = new ServerLooks(shop.pipeline, () => 0);
    looks.latest();
    await looks.idle();
    // From p0, the oldest there is, to p3, the saved one.
    expect(looks.latest()?.purgeDistance).toBe(300);
    const kept = new Shop('kept', () => Promise.resolve({ ...log, safeBytes: 77 }));
    const others = new ServerLooks(kept.pipeline, () => 0);
    others.latest();
    await others.idle();
    expect(others.latest()?.purgeDistance).toBe(77);
  });

  it('show what one of the two has found while the other one is away, and how old the rest is', async () => {
    let now = 0;
    let counts = (): Promise<object> => Promise.reject(new Error('away'));
    const shop = new Shop('shop', () => Promise.resolve(log));
    Object.defineProperty(shop.pipeline, 'deadLetters', { value: { counts: () => counts(), close } });
    const looks = new ServerLooks(shop.pipeline, () => now);
    looks.latest();
    await looks.idle();
    now = LOOK_EVERY;
    looks.latest();
    await looks.idle();
    expect(looks.latest()).toMatchObject({ retainedBytes: 900, letters: null, at: 0 });
    counts = () => Promise.resolve({ keys: 1, waiting: 2, skipped: 3 });
    now = 2 * LOOK_EVERY;
    looks.latest();
    await looks.idle();
    expect(looks.latest()).toMatchObject({ letters: { waiting: 2 }, at: 2 * LOOK_EVERY });
  });

  it('end where the dead-letter table never answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const shop = new Shop('shop', () => Promise.resolve(log));
    Object.defineProperty(shop.pipeline, 'deadLetters', {
      value: { counts: () => new Promise(() => undefined), close },
    });
    const looks = new ServerLooks(shop.pipeline, () => 0);
    looks.latest();
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    await looks.idle();
    expect(looks.latest()).toMatchObject({ retainedBytes: 900, letters: null });
  });

  it('that fail leave what the last one found, and fail nobody', async () => {
    let now = 0;
    let answer = (): Promise<Partial<LogState>> => Promise.resolve(log);
    const shop = new Shop('shop', () => answer());
    const looks = new ServerLooks(shop.pipeline, () => now);
    looks.latest();
    await looks.idle();
    answer = () => Promise.reject(new Error('away'));
    now = LOOK_EVERY;
    looks.latest();
    await looks.idle();
    expect(looks.latest()).toMatchObject({ retainedBytes: 900, at: 0 });
    expect(shop.looks).toBe(2);
  });
});

class OnRequest extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

describe('metrics for OpenTelemetry', () => {
  it('have the names, the kinds, the labels and the numbers of those for Prometheus', async () => {
    const shop = new Shop('shop', () => Promise.resolve({ retainedBytes: 900, safeBytes: 77 }));
    const reader = new OnRequest();
    const provider = new MeterProvider({ readers: [reader] });
    const metrics = openTelemetryMetrics({ pipelines: [shop.pipeline], meter: provider.getMeter('test') });
    ends.push(() => {
      metrics.close();
    });
    const prometheus = prometheusMetrics({ pipelines: [shop.pipeline] });
    ends.push(() => {
      prometheus.close();
    });
    await shop.run();
    const { resourceMetrics } = await reader.collect();
    const found = new Map(
      resourceMetrics.scopeMetrics
        .flatMap(({ metrics: each }) => each)
        .map((metric) => [metric.descriptor.name, metric]),
    );
    const { body } = await prometheus.render();
    for (const { name, unit, kind } of INSTRUMENTS) {
      const metric = found.get(name);
      if (!body.includes(`\n${name}{`)) continue;
      expect(metric?.descriptor.unit, name).toBe(unit);
      expect(metric?.dataPointType, name).toBe(kind === 'counter' ? DataPointType.SUM : DataPointType.GAUGE);
    }
    for (const { name } of HISTOGRAMS)
      expect(found.get(name)?.dataPointType, name).toBe(DataPointType.HISTOGRAM);
    const settled = found.get('strandline_events_settled_total')?.dataPoints;
    expect(settled).toMatchObject([{ value: 3, attributes: { pipeline: 'shop' } }]);
    metrics.close();
    await provider.shutdown();
  });
});

describe('what is written about the metrics', () => {
  const names = [...INSTRUMENTS, ...HISTOGRAMS].map(({ name }) => name);
  const series = new Set([
    ...names,
    ...HISTOGRAMS.flatMap(({ name }) => [`${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ]);
  const namesIn = (file: string): string[] => [
    ...(readFileSync(path.join(root, file), 'utf8').match(/\bstrandline_[a-z_]+/g) ?? []),
  ];

  it.each([
    'infra/grafana/strandline.json',
    'infra/prometheus/alerts.yaml',
    'infra/prometheus/alerts.test.yaml',
  ])('%s asks for metrics that there are', (file) => {
    const used = namesIn(file);
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !series.has(name))).toEqual([]);
  });

  it('the table of docs/observing.md has each of them, with its kind and its labels', () => {
    const rows = readFileSync(path.join(root, 'docs/observing.md'), 'utf8')
      .split('\n')
      .map((line) => /^\| `(strandline_\w+)` +\| (\w+) +\| (.*?) +\|/.exec(line))
      .flatMap((match) => (match === null ? [] : [match.slice(1)]));
    const written = (labels: readonly string[]): string => labels.map((label) => `\`${label}\``).join(', ');
    expect(rows).toEqual([
      ...INSTRUMENTS.map(({ name, kind, labels }) => [name, kind, written(labels)]),
      ...HISTOGRAMS.map(({ name, labels }) => [name, 'histogram', written(labels)]),
    ]);
  });
});
