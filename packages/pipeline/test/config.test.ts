import { inspect } from 'node:util';
import type { HandlerContext, OutboxEvent } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { parsePipelineOptions, type Handler, type PipelineOptions } from '../src/config.js';
import { PipelineError } from '../src/errors.js';
import { definePipeline } from '../src/pipeline.js';
import { event, FakeStore, noSource } from './fixtures.js';

const good = {
  name: 'shop',
  source: noSource,
  offsets: new FakeStore(),
  handle: (): void => undefined,
} satisfies PipelineOptions;

function changed(path: string, value: unknown): PipelineOptions {
  const options: Record<string, unknown> = { ...good };
  const [first = '', second] = path.split('.');
  options[first] = second === undefined ? value : { [second]: value };
  return options as unknown as PipelineOptions;
}

function refusal(options: unknown): PipelineError {
  try {
    parsePipelineOptions(options as PipelineOptions);
  } catch (error) {
    if (error instanceof PipelineError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('defaults', () => {
  it('are filled in, and the result is frozen', () => {
    const config = parsePipelineOptions(good);
    expect(config).toMatchObject({
      name: 'shop',
      concurrency: 32,
      retry: {
        attempts: 10,
        maxElapsed: Infinity,
        initialDelay: 100,
        maxDelay: 30_000,
        factor: 2,
        jitter: 'full',
      },
      window: { events: 10_000, bytes: 64 * 1024 * 1024 },
      commitInterval: 100,
      drainTimeout: 30_000,
      batch: undefined,
      log: undefined,
    });
    expect(config.source).toBe(good.source);
    expect(config.offsets).toBe(good.offsets);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('of what is given in part are filled in for the rest', () => {
    const config = parsePipelineOptions({ ...good, retry: { attempts: Infinity }, window: { events: 5 } });
    expect(config.retry).toMatchObject({ attempts: Infinity, initialDelay: 100, jitter: 'full' });
    expect(config.window).toEqual({ events: 5, bytes: 64 * 1024 * 1024 });
  });

  it('a handler that is a method finds its object', () => {
    const seen: string[] = [];
    const { handle } = parsePipelineOptions({
      ...good,
      handle({ id }: OutboxEvent): void {
        seen.push(`${this.name} ${id}`);
      },
    });
    (handle as Handler)(event('k', 7), {} as HandlerContext);
    expect(seen).toEqual(['shop 7']);
  });
});

describe('a wrong field gives one message with the field, its value and the rule', () => {
  it.each<[field: string, value: unknown, shown: string, rule: RegExp]>([
    ['name', undefined, 'missing', /must name the pipeline/],
    ['name', '', '""', /must be 1 to 50 of a-z, 0-9, - and _/],
    ['name', 'Shop', '"Shop"', /must be 1 to 50/],
    ['name', '_shop', '"_shop"', /must be 1 to 50/],
    ['name', 'shop}', '"shop}"', /must be 1 to 50/],
    ['name', 'x'.repeat(51), `"${'x'.repeat(51)}"`, /must be 1 to 50/],
    ['source', undefined, 'missing', /must be a source, such as postgres/],
    ['source', { url: 'postgres://u:hunter2@h/db' }, 'an object', /must be a source/],
    ['source', 'shop', '"shop"', /must be a source/],
    ['source', 'postgres://u@h/db', 'a value that is not shown', /must be a source/],
    ['offsets', undefined, 'missing', /must be an offset store, such as redisOffsets/],
    ['offsets', {}, 'an object', /must be an offset store/],
    ['concurrency', 0, '0', />0|positive|too small/i],
    ['concurrency', 1.5, '1.5', /int/],
    ['concurrency', 100_001, '100001', /100000/],
    ['concurrency', '8', '"8"', /number/],
    ['retry', 3, '3', /object/],
    ['retry.attempts', 0, '0', /./],
    ['retry.attempts', NaN, 'NaN', /./],
    ['retry.maxElapsed', -1, '-1', /./],
    ['retry.initialDelay', -1, '-1', />=0|too small/i],
    ['retry.maxDelay', Infinity, 'Infinity', /./],
    ['retry.factor', 0.5, '0.5', />=1|too small/i],
    ['retry.jitter', 'some', '"some"', /full.*none/],
    ['window', 5, '5', /object/],
    ['window.events', 0, '0', />0|positive|too small/i],
    ['window.bytes', 0, '0', />0|positive|too small/i],
    ['commitInterval', -1, '-1', />=0|too small/i],
    ['commitInterval', 2 ** 31, '2147483648', /2147483647/],
    ['drainTimeout', '30s', '"30s"', /number/],
    ['log', () => undefined, 'a function', /must be a logger such as pino/],
    ['log', { info: () => undefined }, 'an object', /must be a logger/],
    ['batch', 5, '5', /object/],
    ['batch.max', 0, '0', />0|positive|too small/i],
    ['handle', undefined, 'missing', /must be a function/],
    ['handle', 'x', '"x"', /must be a function/],
  ])('%s = %j', (field, value, shown, rule) => {
    const error = refusal(changed(field, value));
    expect(error.code).toBe('PIPELINE_CONFIG');
    expect(error.message).toContain(`pipeline.${field} is ${shown}`);
    expect(error.message).toMatch(rule);
    expect(error.remedy).toBe('Correct the options of definePipeline({ … }).');
    expect(error.message.match(/pipeline\.[a-zA-Z.]+ is /g)).toHaveLength(1);
  });

  it.each([
    ['a field that does not exist', { ...good, paralelism: 4 }, /paralelism/],
    ['a field of retry that does not exist', changed('retry.backoff', 4), /backoff/],
    ['no object at all', 'shop', /object/],
    ['nothing', undefined, /object/],
  ])('%s', (_, options, message) => {
    const error = refusal(options);
    expect(error.code).toBe('PIPELINE_CONFIG');
    expect(error.message).toMatch(message);
  });

  it('definePipeline itself refuses', () => {
    expect(() => definePipeline({ ...good, concurrency: 0 })).toThrow(PipelineError);
  });
});

describe('secrets', () => {
  it.each<[string, unknown]>([
    ['a connection string as source', { ...good, source: 'postgres://u:hunter2@h/db' }],
    ['a connection string as offsets', { ...good, offsets: 'redis://:hunter2@h' }],
    ['options as source', { ...good, source: { url: 'postgres://u:hunter2@h/db' } }],
  ])('%s is not shown with its password', (_, options) => {
    const error = refusal(options);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2');
  });
});
