import type { Histogram, Meter, Observable } from '@opentelemetry/api';
import type { Pipeline } from '@strandline/pipeline';
import {
  COMMIT_DURATION,
  COMMIT_TO_HANDLER,
  HANDLER_DURATION,
  recordTimes,
  type HistogramSpec,
} from './histograms.js';
import { INSTRUMENTS, type Instrument } from './instruments.js';
import { Looks } from './look.js';
import { parseOpenTelemetryOptions } from './options.js';

export interface OpenTelemetryMetricsOptions {
  /** Each is told apart by its name: the attribute `pipeline`. */
  readonly pipelines: readonly Pipeline[];
  /** Of your MeterProvider, such as `metrics.getMeter('shop')`. */
  readonly meter: Meter;
}

export interface OpenTelemetryMetrics {
  /** Listens and is read no longer. Idempotent. */
  close(): void;
}

/**
 * The metrics of `prometheusMetrics`, by the same names and labels, as instruments of OpenTelemetry. Throws
 * `METRICS_CONFIG`.
 */
export function openTelemetryMetrics(options: OpenTelemetryMetricsOptions): OpenTelemetryMetrics {
  const { pipelines, meter } = parseOpenTelemetryOptions(options);
  const looks = new Looks(pipelines);
  const observed = new Map(INSTRUMENTS.map((instrument) => [observable(instrument, meter), instrument]));
  const observables = [...observed.keys()];
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    for (const look of looks.take())
      for (const [instrument, { read }] of observed)
        for (const { labels, value } of read(look))
          result.observe(instrument, value, { pipeline: look.status.name, ...labels });
  };
  meter.addBatchObservableCallback(observe, observables);
  const end = recordInto(pipelines, meter);
  return {
    close: () => {
      end();
      looks.close();
      meter.removeBatchObservableCallback(observe, observables);
    },
  };
}

function observable({ name, help: description, unit, kind }: Instrument, meter: Meter): Observable {
  return kind === 'counter'
    ? meter.createObservableCounter(name, { description, unit })
    : meter.createObservableGauge(name, { description, unit });
}

function recordInto(pipelines: readonly Pipeline[], meter: Meter): () => void {
  const handlerDuration = histogram(HANDLER_DURATION, meter);
  const commitToHandler = histogram(COMMIT_TO_HANDLER, meter);
  const commitDuration = histogram(COMMIT_DURATION, meter);
  return recordTimes(pipelines, {
    handlerDuration: (pipeline, kind, seconds) => {
      handlerDuration.record(seconds, { pipeline, kind });
    },
    commitToHandler: (pipeline, seconds) => {
      commitToHandler.record(seconds, { pipeline });
    },
    commitDuration: (pipeline, seconds) => {
      commitDuration.record(seconds, { pipeline });
    },
  });
}

function histogram({ name, help: description, unit, buckets }: HistogramSpec, meter: Meter): Histogram {
  return meter.createHistogram(name, {
    description,
    unit,
    advice: { explicitBucketBoundaries: [...buckets] },
  });
}
