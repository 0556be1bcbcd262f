import { execFile } from 'node:child_process';
import path from 'node:path';
import { AsyncLocalStorage } from 'node:async_hooks';
import { promisify } from 'node:util';
import {
  context,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type TraceState,
} from '@opentelemetry/api';
import { insertEvent, type GivenTrace, type InsertOptions, type NewEvent } from '@strandline/outbox';
import { afterEach, describe, expect, test } from 'vitest';
import { recorded } from './recorded.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

async function headers(options: InsertOptions, given?: NewEvent['headers']): Promise<unknown> {
  const executor = recorded();
  const event = { key: 'k', type: 't' };
  await insertEvent(executor, given === undefined ? event : { ...event, headers: given }, options);
  const text = executor.statements[0]?.params[4];
  return text === null ? null : JSON.parse(String(text));
}

describe('a given context', () => {
  test.each([
    [VALID],
    [`00-${TRACE}-${SPAN}-00`],
    [`01-${TRACE}-${SPAN}-01`],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`],
  ])('%s is passed on', async (traceparent) => {
    expect(await headers({ trace: { traceparent } })).toEqual({ traceparent });
  });

  test.each([
    [undefined],
    [''],
    [['a']],
    [VALID.toUpperCase()],
    [`${VALID}-more`],
    [`${VALID}\n`],
    [`ff-${TRACE}-${SPAN}-01`],
    [`00-${'0'.repeat(32)}-${SPAN}-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`00-${TRACE.slice(1)}-${SPAN}-01`],
    [`01-${TRACE}-${SPAN}-01.more`],
  ])('%j is left out, with its tracestate, and fails nothing', async (traceparent) => {
    expect(await headers({ trace: { traceparent, tracestate: 'a=1' } as GivenTrace })).toBeNull();
    expect(await headers({ trace: { traceparent } as GivenTrace }, { a: 1 })).toEqual({ a: 1 });
  });

  test.each([
    ['a=1'],
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['fw529a3039@dt=FfAAAAJS , , a=b '],
    ['a*/_-0=!~ x'],
    [Array.from({ length: 32 }, (_, n) => `a${String(n)}=1`).join(',')],
    [`a=${'x'.repeat(256)}`],
  ])('with the tracestate %s', async (tracestate) => {
    expect(await headers({ trace: { traceparent: VALID, tracestate } })).toEqual({
      traceparent: VALID,
      tracestate,
    });
  });

  test.each([
    [''],
    [' , '],
    ['a'],
    ['a='],
    ['A=1'],
    ['a=1,a=2'],
    ['a=b=c'],
    ['a=ü'],
    ['a@=1'],
    [Array.from({ length: 33 }, (_, n) => `a${String(n)}=1`).join(',')],
    [`a=${'x'.repeat(257)}`],
    [7],
  ])('without the tracestate %j, which is not valid', async (tracestate) => {
    const given = { traceparent: VALID, tracestate } as GivenTrace;
    expect(await headers({ trace: given })).toEqual({ traceparent: VALID });
  });

  test('does not take the place of one that is in the headers', async () => {
    const own = { traceparent: 'mine' };
    expect(await headers({ trace: { traceparent: VALID, tracestate: 'a=1' } }, own)).toEqual(own);
  });
});

const traceState: TraceState = {
  get: () => undefined,
  set: () => traceState,
  unset: () => traceState,
  serialize: () => 'a=1,b=2',
};

/** What an SDK registers, as far as it is needed. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    inner: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(inner, () => work.apply(self, args));
  }
  bind<T>(_: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

describe('the active span of OpenTelemetry', () => {
  afterEach(() => {
    context.disable();
  });

  const within = <T>(work: () => Promise<T>): Promise<T> => {
    const span = { traceId: TRACE, spanId: SPAN, traceFlags: 1, traceState };
    return context.with(trace.setSpanContext(ROOT_CONTEXT, span), work);
  };

  test('is passed on, unless that is not wanted or another context was given', async () => {
    context.setGlobalContextManager(new Contexts());
    expect(await within(() => headers({}))).toEqual({ traceparent: VALID, tracestate: 'a=1,b=2' });
    expect(await within(() => headers({}, { a: 1 }))).toEqual({
      a: 1,
      traceparent: VALID,
      tracestate: 'a=1,b=2',
    });
    expect(await within(() => headers({ trace: false }))).toBeNull();
    expect(await within(() => headers({ trace: { traceparent: 'none' } }))).toBeNull();
  });

  test('is not written where there is no column for it', async () => {
    context.setGlobalContextManager(new Contexts());
    const executor = recorded();
    const columns = { key: 'key', type: 'type' };
    await within(() => insertEvent(executor, { key: 'k', type: 't' }, { columns }));
    expect(executor.statements[0]?.params).toEqual(['k', 't']);
  });

  test('is none outside of a span, and without an SDK', async () => {
    expect(await within(() => headers({}))).toBeNull();
    context.setGlobalContextManager(new Contexts());
    expect(await headers({})).toBeNull();
  });

  test('its library is asked for only where one is registered, and need not be there', async () => {
    const hooks = `import { writeSync } from 'node:fs';
      export async function resolve(name, context, next) {
        if (name !== '@opentelemetry/api') return next(name, context);
        writeSync(1, 'asked for ');
        throw new Error('There is none.');
      }`;
    const script = `
      import { writeSync } from 'node:fs';
      import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
      const { insertEvent } = await import('@strandline/outbox');
      const executor = { dialect: 'postgres', run: async (sql, params) => writeSync(1, String(params[4]) + ' ') };
      await insertEvent(executor, { key: 'k', type: 't' });
      globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.9.0' };
      await insertEvent(executor, { key: 'k', type: 't' });`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        cwd: path.resolve(import.meta.dirname, '..'), // a package finds itself by its name
      },
    );
    expect(stdout).toBe('null asked for null ');
  });
});
