import type { Pipeline } from 'strandline';

/**
 * Who listens while a backlog is read:
 *
 * - `metrics`: those for Prometheus, scraped every five seconds.
 * - `context`: nobody, but the context manager of OpenTelemetry is in use, as an application that traces has it. Node 20
 *   and 22 then do more for every promise.
 * - `traces`: spans of one event in a hundred, with that context manager and a provider that exports to nobody.
 */
export type Observed = 'metrics' | 'context' | 'traces';

/** Milliseconds: three times as often as Prometheus does by itself. */
const SCRAPED_EVERY = 5_000;
const RATIO = 0.01;

/** Begins to listen. Nothing of it is loaded where nobody does. Tells how to end it. */
export async function observe(pipeline: Pipeline, observed: Observed | undefined): Promise<() => void> {
  switch (observed) {
    case undefined:
      return () => undefined;
    case 'metrics':
      return scraped(pipeline);
    case 'context':
      return withContext();
    case 'traces':
      return traced(pipeline);
  }
}

async function scraped(pipeline: Pipeline): Promise<() => void> {
  const { prometheusMetrics } = await import('strandline/metrics');
  const metrics = prometheusMetrics({ pipelines: [pipeline] });
  const timer = setInterval(() => void metrics.render(), SCRAPED_EVERY);
  return () => {
    clearInterval(timer);
    metrics.close();
  };
}

async function withContext(): Promise<() => void> {
  const { context } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // The first use is what counts.
  context.with(context.active(), () => undefined);
  return () => {
    context.disable();
  };
}

async function traced(pipeline: Pipeline): Promise<() => void> {
  const { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } =
    await import('@opentelemetry/sdk-trace-base');
  const { tracing } = await import('strandline/tracing');
  const end = await withContext();
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  const traces = tracing({ pipelines: [pipeline], tracer: provider.getTracer('bench'), ratio: RATIO });
  // Nobody takes them away.
  const timer = setInterval(() => {
    exporter.reset();
  }, 1_000);
  return () => {
    clearInterval(timer);
    traces.close();
    end();
  };
}
