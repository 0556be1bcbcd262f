import { InvariantError, StrandlineError } from '@strandline/core';
import { describe, expect, test } from 'vitest';
import { describeError } from '../src/print-error.js';

const quiet = { verbose: false };

function frames(text: string): number {
  return text.split('\n').filter((line) => line.trim().startsWith('at ')).length;
}

describe('an error of ours', () => {
  const error = new StrandlineError('PG_X', 'The server is away.', 'Start it.', {
    cause: new Error('connect ECONNREFUSED'),
  });

  test('is code, problem and remedy, without a stack', () => {
    expect(describeError(error, { where: 'pipeline orders', verbose: false })).toBe(
      'strandline: PG_X (pipeline orders)\n  The server is away.\n  Start it.\n',
    );
  });

  test('comes with stack and causes when asked', () => {
    const text = describeError(error, { verbose: true });
    expect(text).toMatch(/^strandline: PG_X\n {2}The server is away\.\n {2}Start it\.\n +at /);
    expect(text).toContain('  caused by Error: connect ECONNREFUSED\n');
    expect(text.match(/The server is away/g)).toHaveLength(1);
    expect(frames(text)).toBeGreaterThan(1);
  });

  test('names position and key where it has them', () => {
    const placed = new StrandlineError('PG_ROW', 'It can not be read.', 'Look at it.', {
      position: '0/16B3748:2',
      key: '42',
    });
    expect(describeError(placed, quiet)).toBe(
      'strandline: PG_ROW\n  It can not be read.\n  At position 0/16B3748:2, key 42.\n  Look at it.\n',
    );
  });

  test('is known by its shape: the config may bring another copy of the class', () => {
    const foreign = Object.assign(new Error('Away. Start it.'), { code: 'PG_X', remedy: 'Start it.' });
    expect(describeError(foreign, quiet)).toBe('strandline: PG_X\n  Away.\n  Start it.\n');
  });

  test('that reports a broken invariant comes with its stack', () => {
    expect(frames(describeError(new InvariantError('Two heads.'), quiet))).toBeGreaterThan(0);
  });

  test('with a circle of causes comes to an end', () => {
    const circle = new Error('round');
    circle.cause = circle;
    const text = describeError(new StrandlineError('A', 'B.', 'C.', { cause: circle }), { verbose: true });
    expect(text.match(/caused by/g)?.length).toBeLessThan(10);
  });
});

describe('an error of somebody else', () => {
  test('comes with its stack', () => {
    const text = describeError(new TypeError('x is not a function'), quiet);
    expect(text).toMatch(/^strandline: unexpected error\n {2}TypeError: x is not a function\n +at /);
  });

  test('shows only the first line of its message, and none of its fields', () => {
    const error = Object.assign(new Error('syntax error\nvalues ($1) with {"card":"4711"}'), {
      parameters: ['4711'],
    });
    expect(describeError(error, { verbose: true })).not.toContain('4711');
  });

  test('that is no error at all does not show what it is', () => {
    expect(describeError({ card: '4711' }, { verbose: true })).toBe(
      'strandline: unexpected error\n  a value that is no error was thrown (object)\n',
    );
  });

  test.each([
    ['postgres://shop:hunter2@db/shop is away', 'postgres://***@db/shop is away'],
    ['postgres://shop:hun@ter/2@db:5432/shop', 'postgres://***@db:5432/shop'],
    ['redis://:hunter2@db and redis://a:hunter2@b', 'redis://***@db and redis://***@b'],
    ['host=db password=hunter2 user=shop', 'host=db password=*** user=shop'],
    [`{ "password": "hunter2 ", port: 1 }`, `{ "password": ***, port: 1 }`],
    ['mail bob@example.com via http://example.com', 'mail bob@example.com via http://example.com'],
  ])('%s is shown as %s', (message, shown) => {
    const text = describeError(new Error(message, { cause: new Error(message) }), { verbose: true });
    expect(text).toContain(`Error: ${shown}\n`);
    expect(text).toContain(`caused by Error: ${shown}\n`);
    expect(text).not.toContain('hunter2');
  });
});
