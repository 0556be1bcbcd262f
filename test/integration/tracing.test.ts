import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { testDatabase } from '@strandline/test-kit';
import { tracing } from '@strandline/tracing';
import { definePipeline, memoryOffsets, postgres } from 'strandline';
import { expect, test } from 'vitest';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('the span of an event leads from who wrote the row to what its handler asked the database', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer = provider.getTracer('test');
  await using db = await testDatabase();
  await db.pool.query(
    'CREATE TABLE outbox (id bigserial PRIMARY KEY, key text, payload jsonb, headers jsonb)',
  );
  let calls = 0;
  await using pipeline = definePipeline({
    name: db.slot('traced'),
    source: postgres({
      url: db.url,
      outbox: { table: 'outbox', id: 'id', key: 'key', payload: 'payload', headers: 'headers' },
    }),
    offsets: memoryOffsets(),
    retry: { initialDelay: 5, maxDelay: 5 },
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
      child() {
        return this;
      },
    },
    async handle() {
      calls += 1;
      await db.pool.query('SELECT 1');
      tracer.startSpan('asked').end();
      if (calls === 1) throw new Error('not yet');
    },
  });
  const traces = tracing({ tracer, pipelines: [pipeline] });
  try {
    await pipeline.start();
    await db.pool.query(`INSERT INTO outbox (key, payload, headers) VALUES ('a', '{"secret": 4711}', $1)`, [
      { traceparent: `00-${TRACE}-${SPAN}-01` },
    ]);
    await expect.poll(() => exporter.getFinishedSpans().length, { timeout: 20_000 }).toBe(3);
    const spans = exporter.getFinishedSpans();
    const consumer = spans.find(({ kind }) => kind === SpanKind.CONSUMER);
    expect(consumer?.name).toBe('process public.outbox');
    expect(consumer?.links.map((link) => link.context)).toMatchObject([{ traceId: TRACE, spanId: SPAN }]);
    expect(consumer?.attributes).toMatchObject({ 'strandline.attempts': 2, 'strandline.outcome': 'settled' });
    expect(consumer?.events.map(({ name }) => name)).toEqual(['attempt', 'exception', 'attempt']);
    expect(
      spans.filter(({ name }) => name === 'asked').map((span) => span.parentSpanContext?.spanId),
    ).toEqual([consumer?.spanContext().spanId, consumer?.spanContext().spanId]);
    const said = spans.map(({ name, attributes, events }) => ({ name, attributes, events }));
    expect(JSON.stringify(said)).not.toContain('4711');
    // Nobody is inside of a span out here.
    expect(trace.getActiveSpan()).toBeUndefined();
  } finally {
    traces.close();
    context.disable();
    await provider.shutdown();
  }
});
