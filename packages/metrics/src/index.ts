export { MetricsError, type MetricsErrorCode } from './errors.js';
export { HISTOGRAMS, type HistogramSpec } from './histograms.js';
export { INSTRUMENTS, type Instrument, type Sample } from './instruments.js';
export {
  openTelemetryMetrics,
  type OpenTelemetryMetrics,
  type OpenTelemetryMetricsOptions,
} from './open-telemetry.js';
export { prometheusMetrics, type PrometheusMetrics, type PrometheusMetricsOptions } from './prometheus.js';
