import type { Pipeline } from '@strandline/pipeline';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  COMMIT_DURATION,
  COMMIT_TO_HANDLER,
  HANDLER_DURATION,
  HISTOGRAMS,
  recordTimes,
  type HistogramSpec,
} from './histograms.js';
import { INSTRUMENTS, type Instrument } from './instruments.js';
import { Looks } from './look.js';
import { parsePrometheusOptions } from './options.js';

export interface PrometheusMetricsOptions {
  /** Each is told apart by its name: the label `pipeline`. */
  readonly pipelines: readonly Pipeline[];
  /** Where the metrics are registered. Default: a registry of their own. */
  readonly registry?: Registry;
}

export interface PrometheusMetrics {
  readonly registry: Registry;
  /** What is answered to a scrape: all metrics of the registry. Waits for no server. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Listens no longer, and takes the metrics out of the registry. Idempotent. */
  close(): void;
}

/**
 * Metrics of pipelines by prom-client. Most are read from the pipelines when somebody scrapes; define them before the
 * pipelines start, for times are recorded from now on. Throws `METRICS_CONFIG`.
 */
export function prometheusMetrics(options: PrometheusMetricsOptions): PrometheusMetrics {
  const { pipelines, registry = new Registry() } = parsePrometheusOptions(options);
  const looks = new Looks(pipelines);
  for (const instrument of INSTRUMENTS) register(instrument, looks, registry);
  const end = recordInto(pipelines, registry);
  return {
    registry,
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
    close: () => {
      end();
      looks.close();
      for (const { name } of [...INSTRUMENTS, ...HISTOGRAMS]) registry.removeSingleMetric(name);
    },
  };
}

function register({ name, help, labels, kind, read }: Instrument, looks: Looks, registry: Registry): void {
  const common = { name, help, labelNames: ['pipeline', ...labels], registers: [registry] };
  const each = (take: (labels: Record<string, string>, value: number) => void): void => {
    for (const look of looks.take())
      for (const sample of read(look)) take({ pipeline: look.status.name, ...sample.labels }, sample.value);
  };
  // Each is made anew at every scrape: what is not known any more must not stay.
  if (kind === 'counter') {
    new Counter({
      ...common,
      collect() {
        this.reset();
        each((of, value) => {
          this.inc(of, value);
        });
      },
    });
  } else {
    new Gauge({
      ...common,
      collect() {
        this.reset();
        each((of, value) => {
          this.set(of, value);
        });
      },
    });
  }
}

function recordInto(pipelines: readonly Pipeline[], registry: Registry): () => void {
  const handlerDuration = histogram(HANDLER_DURATION, registry);
  const commitToHandler = histogram(COMMIT_TO_HANDLER, registry);
  const commitDuration = histogram(COMMIT_DURATION, registry);
  return recordTimes(pipelines, {
    handlerDuration: (pipeline, kind, seconds) => {
      handlerDuration.observe({ pipeline, kind }, seconds);
    },
    commitToHandler: (pipeline, seconds) => {
      commitToHandler.observe({ pipeline }, seconds);
    },
    commitDuration: (pipeline, seconds) => {
      commitDuration.observe({ pipeline }, seconds);
    },
  });
}

function histogram({ name, help, labels, buckets }: HistogramSpec, registry: Registry): Histogram {
  return new Histogram({
    ...{ name, help, labelNames: ['pipeline', ...labels], buckets: [...buckets], registers: [registry] },
  });
}
