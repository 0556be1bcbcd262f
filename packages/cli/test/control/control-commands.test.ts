import { PassThrough } from 'node:stream';
import type { Controls, HeldKey, Order } from '@strandline/core';
import type { ControlDesk } from '@strandline/pipeline';
import { describe, expect, test } from 'vitest';
import { hold, list, pause, release, resume, type AtControl } from '../../src/control/answers.js';
import { main } from '../../src/main.js';
import type { Streams } from '../../src/streams.js';

const order: Order = { by: 'ann', at: '2026-01-01T00:00:00.000Z', note: 'the bank has called' };

/** A desk that knows what was ordered, and writes down what it is asked. */
function at(controls: Partial<Controls> = {}): {
  at: AtControl;
  wrote: { stdout: string };
  asked: unknown[];
} {
  const { paused = null, held = [] } = controls;
  const asked: unknown[] = [];
  const desk = {
    controls: () => Promise.resolve({ revision: 1, paused, held }),
    pause: (options: unknown) => {
      asked.push(options);
      return Promise.resolve({ paused: paused ?? order, changed: paused === null, here: false });
    },
    resume: () => Promise.resolve({ was: paused, changed: paused !== null, here: false }),
    hold: (key: string, options: unknown) => {
      asked.push(key, options);
      const known = held.find((one) => one.key === key);
      return Promise.resolve({ held: known ?? { key, ...order }, changed: known === undefined, here: false });
    },
    release: (key: string) => {
      const was = held.find((one) => one.key === key) ?? null;
      return Promise.resolve({ was, changed: was !== null, here: false });
    },
  } as unknown as ControlDesk;
  const wrote = { stdout: '' };
  const stdout = new PassThrough();
  stdout.on('data', (chunk: Buffer) => (wrote.stdout += chunk.toString()));
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() } as unknown as Streams;
  return { at: { pipeline: 'orders', desk, streams }, wrote, asked };
}

const held: readonly HeldKey[] = [{ key: '42\u001b[2J', ...order }];

describe('pause and resume', () => {
  test('tell what was done, and who had done it before', async () => {
    const fresh = at();
    await pause(fresh.at, { note: 'why' });
    await resume(fresh.at, {});
    expect(fresh.wrote.stdout).toBe(
      'orders is paused: its owner obeys within two seconds, and what runs may end\norders was not paused\n',
    );
    expect(fresh.asked).toEqual([{ by: expect.stringMatching(/.@./) as string, note: 'why' }]);
    const paused = at({ paused: order });
    await pause(paused.at, { by: 'bob' });
    await resume(paused.at, {});
    expect(paused.wrote.stdout).toBe(
      'orders is paused already, by ann at 2026-01-01T00:00:00.000Z: the bank has called\n' +
        'orders goes on: it was paused by ann at 2026-01-01T00:00:00.000Z: the bank has called\n',
    );
  });
});

describe('keys', () => {
  test('are held, listed and released, printable', async () => {
    const here = at({ held });
    await hold(here.at, '7', {});
    await hold(here.at, '42\u001b[2J', {});
    await list(here.at, {});
    await release(here.at, '42\u001b[2J', {});
    expect(here.wrote.stdout.split('\n')).toEqual([
      '7 of orders is held: its owner obeys within two seconds, and what runs may end',
      '42\\u001b[2J of orders is held already, by ann at 2026-01-01T00:00:00.000Z: the bank has called',
      'KEY          BY   SINCE                     NOTE',
      '42\\u001b[2J  ann  2026-01-01T00:00:00.000Z  the bank has called',
      'orders: 1 held key',
      '42\\u001b[2J of orders goes on: it was held by ann at 2026-01-01T00:00:00.000Z: the bank has called',
      '',
    ]);
    await expect(release(here.at, '8', {})).rejects.toMatchObject({ code: 'CLI_NOTHING_FOUND' });
  });

  test('answer in JSON', async () => {
    const here = at({ held, paused: order });
    await list(here.at, { json: true });
    await hold(here.at, '7', { json: true });
    const [listed = '', done = ''] = here.wrote.stdout.split('\n');
    expect(JSON.parse(listed)).toEqual({ pipeline: 'orders', paused: order, held });
    expect(JSON.parse(done)).toEqual({ pipeline: 'orders', held: { key: '7', ...order }, changed: true });
  });
});

test.each([
  ['keys', 'hold'],
  ['keys', 'release'],
  ['pause', 'orders'],
  ['keys', 'nothing'],
])('strandline %s %s is a wrong use', async (...args) => {
  const { streams } = at().at;
  expect(await main(args, streams)).toBe(2);
});
