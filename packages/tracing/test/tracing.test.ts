import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { PermanentError, type OutboxEvent } from '@strandline/core';
import { definePipeline, type Pipeline } from '@strandline/pipeline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { event, FakeStore, keptLog, offsetAt, STEADY, until } from '../../pipeline/test/fixtures.js';
import { ScriptedSource, ScriptedStream } from '../../pipeline/test/scripted-source.js';
import { errorTypeOf, exceptionOf } from '../src/failure.js';
import type { TracingOptions } from '../src/options.js';
import { producerOf } from '../src/producer-context.js';
import { tracing } from '../src/tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('test');
const ends: (() => Promise<void> | void)[] = [];

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

afterAll(() => {
  context.disable();
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  exporter.reset();
});

function written(key: string, n: number, flags = '01'): OutboxEvent {
  return {
    ...event(key, n),
    type: 'order.placed',
    headers: { traceparent: `00-${TRACE}-${SPAN}-${flags}`, tracestate: 'vendor=1' },
    payload: { secret: 'payload' },
  };
}

/** A pipeline whose handlers make a span of their own, and fail as their key says. */
async function start(options: TracingOptions = {}): Promise<{ pipeline: Pipeline; stream: ScriptedStream }> {
  const stream = new ScriptedStream(offsetAt(0));
  const pipeline = definePipeline({
    name: 'traced',
    source: new ScriptedSource(() => Promise.resolve(stream)),
    offsets: new FakeStore(),
    retry: { ...STEADY, attempts: 10, initialDelay: 1, factor: 1 },
    log: keptLog().log,
    async handle({ key }, { attempt }) {
      await Promise.resolve();
      tracer.startSpan('of the handler').end();
      if (key === 'twice' && attempt < 3) throw new TypeError('not yet\npayload of the order');
      if (key === 'never') throw new PermanentError('never');
      if (key === 'again') throw new Error('again');
    },
  });
  const traces = tracing({ tracer, pipelines: [pipeline], ...options });
  ends.push(() => {
    traces.close();
  });
  ends.push(() => pipeline.stop());
  await pipeline.start();
  return { pipeline, stream };
}

function spans(name = 'process public.outbox'): ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name);
}

describe('the span of an event', () => {
  it('is a consumer span of its own trace with a link to the producer, by the conventions for messaging', async () => {
    const { stream } = await start();
    stream.give([written('a', 1)]);
    await until('it has ended', () => spans().length === 1);
    const [span] = spans();
    expect(span?.kind).toBe(SpanKind.CONSUMER);
    expect(span?.attributes).toEqual({
      'messaging.system': 'strandline',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'public.outbox',
      'messaging.consumer.group.name': 'traced',
      'messaging.message.id': '1',
      'strandline.position': 'p1',
      'strandline.turn.kind': 'live',
      'strandline.event.type': 'order.placed',
      'strandline.attempts': 1,
      'strandline.outcome': 'settled',
    });
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.spanContext().traceId).not.toBe(TRACE);
    expect(span?.links.map((link) => link.context)).toMatchObject([
      { traceId: TRACE, spanId: SPAN, isRemote: true },
    ]);
    expect(span?.links[0]?.context.traceState?.get('vendor')).toBe('1');
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('is the parent of what the handler does, its awaits included', async () => {
    const { stream } = await start();
    stream.give([written('a', 1)]);
    await until('it has ended', () => spans().length === 1);
    expect(spans('of the handler')[0]?.parentSpanContext?.spanId).toBe(spans()[0]?.spanContext().spanId);
  });

  it('goes on with the trace of the producer where that is asked for, unless it was not sampled', async () => {
    const { stream, pipeline } = await start({ producer: 'parent', ratio: 0 });
    stream.give([written('a', 1), written('b', 2, '00'), event('c', 3)]);
    await until('all is settled', () => pipeline.status().settled === 3);
    expect(spans().map((span) => span.parentSpanContext?.spanId)).toEqual([SPAN]);
    expect(spans()[0]?.spanContext().traceId).toBe(TRACE);
    expect(spans()[0]?.links).toEqual([]);
  });

  it('lasts over all attempts: each is a span event, and so is each failure, without a payload', async () => {
    const { stream } = await start();
    stream.give([written('twice', 1)]);
    await until('it has ended', () => spans().length === 1);
    const [span] = spans();
    expect(span?.events.map(({ name, attributes }) => [name, attributes?.['strandline.attempt']])).toEqual([
      ['attempt', 1],
      ['exception', 1],
      ['attempt', 2],
      ['exception', 2],
      ['attempt', 3],
    ]);
    expect(span?.attributes).toMatchObject({ 'strandline.attempts': 3, 'strandline.outcome': 'settled' });
    expect(span?.events[1]?.attributes).toMatchObject({
      'exception.type': 'TypeError',
      'exception.message': 'not yet',
    });
    expect(JSON.stringify(span?.events)).not.toContain('payload');
    // The handler's own spans of all three attempts have it as their parent.
    expect(new Set(spans('of the handler').map((own) => own.parentSpanContext?.spanId))).toEqual(
      new Set([span?.spanContext().spanId]),
    );
  });

  it('has the status ERROR and the type of the error when it failed for good', async () => {
    const { stream } = await start();
    stream.give([written('never', 1)]);
    await until('it has ended', () => spans().length === 1);
    expect(spans()[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'PermanentError' });
    expect(spans()[0]?.attributes).toMatchObject({
      'error.type': 'PermanentError',
      'strandline.outcome': 'exhausted',
    });
  });

  it('of an event that is not drawn is not made', async () => {
    const { stream, pipeline } = await start({ ratio: 0 });
    stream.give([written('a', 1), written('twice', 2)]);
    await until('all is settled', () => pipeline.status().settled === 2);
    expect(spans()).toEqual([]);
    expect(spans('of the handler').every((own) => own.parentSpanContext === undefined)).toBe(true);
  });

  it('of an event that is not drawn keeps those of its handler out, where that is asked for', async () => {
    const { stream, pipeline } = await start({ ratio: 0, suppress: true });
    stream.give([written('a', 1), written('twice', 2)]);
    await until('all is settled', () => pipeline.status().settled === 2);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('has what the user adds, and does without it when that fails', async () => {
    const { stream, pipeline } = await start({
      attributes: ({ key }) => {
        if (key === 'b') throw new Error('no');
        return { 'shop.key': key };
      },
    });
    stream.give([written('a', 1), written('b', 2)]);
    await until('all is settled', () => pipeline.status().settled === 2);
    expect(spans().map(({ attributes }) => attributes['shop.key'])).toEqual(['a', undefined]);
  });

  it('ends early when too many wait for their next attempt, and at the latest with the term of ownership', async () => {
    const { stream, pipeline } = await start({ waiting: 1 });
    stream.give([written('again', 1), { ...written('x', 2), key: 'again2' }]);
    await until('it fails', () => pipeline.totals().retries > 0);
    stream.give([{ ...written('y', 3), key: 'again3' }]);
    await until('the others are settled', () => pipeline.status().settled === 2);
    await pipeline.stop();
    const own = spans().filter(({ attributes }) => attributes['messaging.message.id'] === '1');
    expect(own.map(({ attributes }) => attributes['strandline.outcome'])).toEqual(['given-up']);
  });
});

describe('the span of a batch', () => {
  it('has the number of its messages and a link for each', async () => {
    const stream = new ScriptedStream(offsetAt(0));
    const pipeline = definePipeline({
      name: 'traced',
      source: new ScriptedSource(() => Promise.resolve(stream)),
      offsets: new FakeStore(),
      log: keptLog().log,
      batch: { max: 10 },
      handle: (events: readonly OutboxEvent[]) => Promise.resolve(events.length),
    });
    const traces = tracing({ tracer, pipelines: [pipeline], producer: 'parent' });
    ends.push(() => {
      traces.close();
    });
    ends.push(() => pipeline.stop());
    await pipeline.start();
    stream.give([written('a', 1), event('a', 2), written('a', 3)]);
    await until('it has ended', () => spans().length === 1);
    const [span] = spans();
    expect(span?.attributes).toMatchObject({ 'messaging.batch.message_count': 3 });
    expect(span?.attributes['messaging.message.id']).toBeUndefined();
    expect(span?.links.map(({ attributes }) => attributes?.['messaging.message.id'])).toEqual(['1', '3']);
  });
});

describe('who has written an event', () => {
  const headed = (
    headers: Record<string, unknown>,
    columns: Record<string, string | null> = {},
  ): OutboxEvent => ({
    ...event('a', 1),
    headers,
    columns,
  });

  it.each([
    ['a header', headed({ traceparent: `00-${TRACE}-${SPAN}-01` }), true],
    ['a mapped column', headed({}, { traceparent: `00-${TRACE}-${SPAN}-00` }), false],
    ['a later version', headed({ traceparent: `01-${TRACE}-${SPAN}-01-more` }), true],
  ])('is told by %s', (_, one, sampled) => {
    expect(producerOf(one)).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: sampled ? 1 : 0 });
  });

  it.each([
    ['nothing', headed({})],
    ['no text', headed({ traceparent: 7 })],
    ['no trace', headed({ traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` })],
    ['an invalid version', headed({ traceparent: `ff-${TRACE}-${SPAN}-01` })],
    ['this version with more behind', headed({ traceparent: `00-${TRACE}-${SPAN}-01-more` })],
    ['no span', headed({ traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` })],
    ['a text that is long', headed({ traceparent: `00-${TRACE}-${SPAN}-01${'0'.repeat(100_000)}` })],
    ['capitals', headed({ traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01` })],
  ])('is not told by %s', (_, one) => {
    expect(producerOf(one)).toBeNull();
  });

  it('is not told by headers that are no JSON', () => {
    const broken = event('a', 1);
    Object.defineProperty(broken, 'headers', {
      get: () => JSON.parse('{') as unknown,
    });
    expect(producerOf(broken)).toBeNull();
  });
});

describe('what is said of an error', () => {
  it('is its code or its name, one line without credentials, and where it was thrown', () => {
    const error = Object.assign(new Error('postgres://me:hunter2@db/shop: refused\n{"payload":1}'), {
      code: 'ECONNREFUSED',
    });
    expect(errorTypeOf(error)).toBe('ECONNREFUSED');
    const said = JSON.stringify(exceptionOf(error));
    expect(said).toContain('refused');
    expect(said).toContain('tracing.test.ts');
    expect(said).not.toMatch(/hunter2|payload/);
    expect(
      exceptionOf(Object.assign(new Error('x'), { message: { payload: 1 }, name: undefined })),
    ).toMatchObject({
      'exception.type': 'Error',
      'exception.message': '(a message that is no text)',
    });
    expect(exceptionOf('payload')).toEqual({ 'exception.type': 'string' });
  });
});

it.each([
  [{ ratio: 2 }, 'ratio'],
  [{ producer: 'child' }, 'producer'],
  [{ tracer: {} }, 'tracer'],
  [{ waiting: -1 }, 'waiting'],
])('is not made of %j', (options, field) => {
  expect(() => tracing(options as TracingOptions)).toThrow(
    expect.objectContaining({ code: 'TRACING_CONFIG', message: expect.stringContaining(field) as string }),
  );
});
