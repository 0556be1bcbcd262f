import { shortError } from '@strandline/core';
import { expect, test } from 'vitest';
import { errorFields } from '../src/error-fields.js';
import { letterError } from '../src/letters/letter-error.js';
import { ControlWorld, events } from './control/control-world.js';
import { FakeLetters } from './fake-letters.js';
import { until } from './fixtures.js';

/** Errors of clients are filled from answers of servers: their fields may be anything. */
const HOSTILE: readonly (readonly [string, () => unknown])[] = [
  ['a message that is a record', () => Object.assign(new Error('x'), { message: { detail: 'secret' } })],
  ['a message that is a number', () => Object.assign(new Error('x'), { message: 42 })],
  ['no name', () => Object.assign(new Error('x'), { name: undefined })],
  ['a stack that is no text', () => Object.assign(new Error('x'), { stack: ['a', 'b'] })],
  ['a code that throws', () => Object.defineProperty(new Error('x'), 'code', throwing())],
  ['a message that throws', () => Object.defineProperty(new Error('x'), 'message', throwing())],
  ['a cause that throws', () => Object.defineProperty(new Error('x'), 'cause', throwing())],
  ['a record without a prototype', () => Object.create(null) as unknown],
  ['a symbol', () => Symbol('x')],
  ['nothing', () => undefined],
  ['what can not be asked for its prototype', () => new Proxy({}, { getPrototypeOf: () => fail() })],
];

function throwing(): PropertyDescriptor {
  return { get: fail };
}

function fail(): never {
  throw new RangeError('not to be read');
}

test.each(HOSTILE)('%s is told as texts', (_, make) => {
  const short = shortError(make());
  expect(short).toEqual({
    name: expect.any(String) as string,
    code: null,
    message: expect.any(String) as string,
  });
  expect(letterError(make())).toMatchObject({ name: expect.any(String) as string, code: null });
  expect(JSON.stringify([short, letterError(make()), errorFields(make())])).not.toContain('secret');
});

test.each(HOSTILE)('%s, thrown by a handler, parks its key like any other error', async (_, make) => {
  const letters = new FakeLetters();
  const world = new ControlWorld(letters, {
    retry: { initialDelay: 1, maxDelay: 1, attempts: 2 },
  });
  world.throws.set('1', make);
  await world.start();
  world.stream.give(events('ab'));
  await world.untilSettled(2);
  expect(world.seen).toEqual(['1', '2', '1']);
  expect(await world.pipeline.key('a')).toMatchObject({ happenings: [{}, {}, { what: 'parked' }] });
  await world.pipeline.stop();
});

test.each(HOSTILE)('%s halts its key where there is no place for letters', async (_, make) => {
  const world = new ControlWorld(null, { retry: { initialDelay: 1, maxDelay: 1, attempts: 2 } });
  world.throws.set('1', make);
  await world.start();
  world.stream.give(events('ab'));
  await until('it is halted', () => world.pipeline.status().halted === 1);
  expect(world.pipeline.details().failing).toMatchObject([{ key: 'a', error: { code: null } }]);
  await world.pipeline.stop();
});

test('an error that `retryable` fails for is retried like any other', async () => {
  const world = new ControlWorld(null, {
    retry: {
      ...{ initialDelay: 1, maxDelay: 1, attempts: 3 },
      retryable: (error) => (error as { response: { status: number } }).response.status !== 404,
    },
  });
  world.bad.add('1');
  await world.start();
  world.stream.give(events('a'));
  await until('it is halted', () => world.pipeline.status().halted === 1);
  expect(world.seen).toEqual(['1', '1', '1']);
  await world.pipeline.stop();
});
