import { describeConfigIssues } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import type { Meter } from '@opentelemetry/api';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { MetricsError } from './errors.js';

function having<T>(methods: readonly string[], rule: string): z.ZodType<T> {
  return z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
    rule,
  );
}

const pipelines = z
  .array(having<Pipeline>(['status', 'totals', 'details'], 'must be a pipeline of definePipeline({ … })'))
  .min(1, 'must have a pipeline')
  .refine(
    (list) => new Set(list.map(({ name }) => name)).size === list.length,
    'must have a name each: it is their label',
  );

const prometheusSchema = z.strictObject({
  pipelines,
  registry: having<Registry>(['registerMetric', 'metrics'], 'must be a Registry of prom-client').optional(),
});

const openTelemetrySchema = z.strictObject({
  pipelines,
  meter: having<Meter>(
    ['createHistogram', 'createObservableGauge', 'addBatchObservableCallback'],
    'must be a Meter of OpenTelemetry',
  ),
});

export type PrometheusConfig = Readonly<z.infer<typeof prometheusSchema>>;
export type OpenTelemetryConfig = Readonly<z.infer<typeof openTelemetrySchema>>;

/** Throws `METRICS_CONFIG` with field, value and rule. */
export function parsePrometheusOptions(options: unknown): PrometheusConfig {
  return parsed(prometheusSchema, options, 'prometheusMetrics');
}

/** Throws `METRICS_CONFIG` with field, value and rule. */
export function parseOpenTelemetryOptions(options: unknown): OpenTelemetryConfig {
  return parsed(openTelemetrySchema, options, 'openTelemetryMetrics');
}

function parsed<T>(schema: z.ZodType<T>, options: unknown, name: string): Readonly<T> {
  const result = schema.safeParse(options);
  if (result.success) return Object.freeze(result.data);
  throw new MetricsError(
    'METRICS_CONFIG',
    describeConfigIssues(name, options, result.error.issues),
    `Correct the options of ${name}({ … }).`,
  );
}
