import { PermanentError, StrandlineError } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import type { PipelineOptions } from '../src/config.js';
import { errorFields } from '../src/error-fields.js';
import { hashedKey, logOf } from '../src/log-keys.js';
import { definePipeline } from '../src/pipeline.js';
import { event, FakeStore, keptLog, offsetAt, STEADY, until } from './fixtures.js';
import { ScriptedSource, ScriptedStream } from './scripted-source.js';

const KEY = 'customer-4711/äöü';
const PAYLOAD = 'the-secret-of-4711';

describe('a hashed key', () => {
  it('is the beginning of HMAC-SHA-256, as openssl makes it', () => {
    // printf '%s' order-1 | openssl dgst -sha256 -hmac shop
    expect(hashedKey('order-1', 'shop')).toBe('18b89f05ead1e008');
    expect(hashedKey('order-1', 'shop')).not.toBe(hashedKey('order-1', 'another'));
  });
});

describe('lines', () => {
  function lineOf(keys: Parameters<typeof logOf>[1], fields: object, message = 'said'): string {
    const { log, lines } = keptLog();
    logOf(log, keys, 'shop').info(fields, message);
    return JSON.stringify(lines[0]);
  }

  it('are as they are by default', () => {
    expect(lineOf('plain', { key: KEY })).toContain(KEY);
  });

  it.each(['hashed', 'none', { secret: 'long enough' }] as const)('have no key in them when %j', (keys) => {
    const error = new Error(`row of ${KEY}: failed`, { cause: new Error(`${KEY} again`) });
    const ours = new StrandlineError('CODE', `The key ${KEY} is bad.`, 'Mend it.', { key: KEY });
    for (const fields of [
      { key: KEY },
      { keys: [KEY, 'another'] },
      { key: KEY, err: errorFields(error) },
      { err: errorFields(ours) },
      { key: KEY, err: error, deep: { er: [`x${KEY}x`] } },
    ])
      expect(lineOf(keys, fields, 'nothing')).not.toContain('4711');
    expect(lineOf(keys, { key: KEY }, `about ${KEY}`)).not.toContain('4711');
  });

  it('say the same of one key each time, and tell keys apart', () => {
    const line = lineOf('hashed', { key: KEY, other: hashedKey(KEY, 'shop') });
    expect(line).toContain(`"key":"${hashedKey(KEY, 'shop')}"`);
    expect(lineOf('none', { key: KEY })).toContain('"key":"(left out)"');
  });

  it('keep numbers that only hold the digits of the key', () => {
    const line = lineOf('hashed', { key: '7', err: { message: 'order 7 took 17 ms' } });
    expect(line).toContain(`order ${hashedKey('7', 'shop')} took 17 ms`);
  });

  it('of a circle have an end', () => {
    const circle: Record<string, unknown> = { key: KEY };
    circle['self'] = circle;
    expect(lineOf('hashed', circle)).toContain('(left out)');
  });
});

describe('the log of a run with failures', () => {
  async function run(options: Partial<PipelineOptions>): Promise<ReturnType<typeof keptLog>> {
    const stream = new ScriptedStream(offsetAt(0));
    const kept = keptLog();
    const pipeline = definePipeline({
      name: 'shop',
      source: new ScriptedSource(() => Promise.resolve(stream)),
      offsets: new FakeStore(),
      retry: { ...STEADY, attempts: 3, initialDelay: 1 },
      drainTimeout: 1,
      handlerTimeout: 10_000,
      log: kept.log,
      handle({ key }, ctx) {
        ctx.log.info({ about: key }, `handling ${key}`);
        if (ctx.attempt < 3) throw new Error(`no answer for ${key}`);
        throw new PermanentError(`never for ${key}`);
      },
      ...options,
      batch: undefined,
    });
    await pipeline.start();
    stream.give([{ ...event(KEY, 1), payloadText: PAYLOAD, payload: { text: PAYLOAD } }]);
    await until('it is halted', () => pipeline.status().halted === 1);
    await pipeline.stop();
    return kept;
  }

  it('has neither the key nor the payload when keys are hashed, and tells the lines of the key', async () => {
    const { lines } = await run({ logKeys: 'hashed' });
    const text = JSON.stringify(lines);
    expect(text).not.toContain('4711');
    expect(text).not.toContain(PAYLOAD);
    const hash = hashedKey(KEY, 'shop');
    // Two attempts that are tried again, one for good, and a line of the handler's own for each.
    expect(lines.filter(({ fields }) => fields['key'] === hash)).toHaveLength(6);
    expect(text).toContain(`handling ${hash}`);
  });

  it('has a line for each state of the pipeline, and none for an event that is handled', async () => {
    const { lines } = await run({
      handle: ({ id }) => (id === '1' ? Promise.reject(new PermanentError('no')) : null),
    });
    expect(lines.filter(({ level }) => level === 'info').map(({ message }) => message)).toEqual([
      'starting',
      'running',
      'stopping',
      'stopped',
    ]);
    expect(JSON.stringify(lines)).not.toContain(PAYLOAD);
  });
});
