/** `strandline/metrics`: apart from `strandline`, so that who takes no metrics loads no library for them. */
export {
  MetricsError,
  openTelemetryMetrics,
  prometheusMetrics,
  type OpenTelemetryMetrics,
  type OpenTelemetryMetricsOptions,
  type PrometheusMetrics,
  type PrometheusMetricsOptions,
} from '@strandline/metrics';
