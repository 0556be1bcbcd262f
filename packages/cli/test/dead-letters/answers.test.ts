import { describe, expect, test } from 'vitest';
import type { Desk } from '../../src/dead-letters/at-desk.js';
import { discard } from '../../src/dead-letters/discard.js';
import { exportLetters } from '../../src/dead-letters/export.js';
import { list } from '../../src/dead-letters/list.js';
import { retry } from '../../src/dead-letters/retry.js';
import { show } from '../../src/dead-letters/show.js';
import { skip } from '../../src/dead-letters/skip.js';
import { deskWith, letter, PASSWORD, PAYLOAD } from './fake-desk.js';

const LETTERS = [
  letter(1, 'a'),
  letter(2, 'a', 'handled'),
  letter(3, 'b', 'skipped'),
  letter(4, 'b\u001b[2J'),
  letter(5, 'a'),
  letter(6, 'c', 'discarded'),
];
const counts = { keys: 2, waiting: 3, skipped: 1 };
const LINE = 'orders: 2 keys with 3 letters that wait, 1 letter skipped\n';

const parsed = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('list', () => {
  test('tells what is held, in the order of the table, and never a payload, a password or a control', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await list(at, { state: 'held', limit: 50 });
    const lines = wrote.stdout.split('\n');
    expect(lines[0]).toMatch(/^NUMBER {2}KEY +EVENT {2}TYPE +STATE +REASON +ATTEMPTS {2}PARKED AT +ERROR$/);
    expect(lines.slice(1, 5).map((line) => line.split(/ +/).slice(0, 3))).toEqual([
      ['1', 'a', 'e1'],
      ['3', 'b', 'e3'],
      ['4', 'b\\u001b[2J', 'e4'],
      ['5', 'a', 'e5'],
    ]);
    expect(lines[1]).toContain('TimeoutError E_TIME: no answer from postgres://***@db/shop\\u001b[2J');
    expect(wrote.stdout.endsWith(`\n4 letters shown\n${LINE}`)).toBe(true);
    for (const secret of [PAYLOAD, PASSWORD, '\u001b', 'second line', 'acme'])
      expect(wrote.stdout).not.toContain(secret);
  });

  test.each([
    ['held', ['1', '3', '4', '5']],
    ['waiting', ['1', '4', '5']],
    ['discarded', ['6']],
    ['all', ['1', '2', '3', '4', '5', '6']],
  ] as const)('in the state %s: %j', async (state, numbers) => {
    const { at, wrote } = deskWith(LETTERS);
    await list(at, { state, limit: 50, json: true });
    const answer = parsed(wrote.stdout);
    expect(answer).toMatchObject({ pipeline: 'orders', counts, next: null });
    expect((answer['letters'] as { id: string }[]).map(({ id }) => id)).toEqual(numbers);
    for (const secret of [PAYLOAD, PASSWORD, 'acme']) expect(wrote.stdout).not.toContain(secret);
  });

  test('in pages, each of which says how to get the next', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await list(at, { state: 'held', limit: 3 });
    expect(wrote.stdout).toContain('3 letters shown; the next ones: --after 4\n');
    const second = deskWith(LETTERS);
    await list(second.at, { state: 'held', limit: 3, after: '4', json: true });
    expect(parsed(second.wrote.stdout)).toMatchObject({ letters: [{ id: '5' }], next: null });
  });

  test('of nothing is an answer, too', async () => {
    const { at, wrote } = deskWith([]);
    await list(at, { state: 'held', limit: 3 });
    expect(wrote.stdout).toBe(
      '0 letters shown\norders: 0 keys with 0 letters that wait, 0 letters skipped\n',
    );
  });
});

describe('show', () => {
  test('tells all of a letter, payload and stack included, and no password or control', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await show(at, '1', {});
    for (const text of [PAYLOAD, 'acme', '{"h": 1}', '77, row 2', 'second line', '    at handle', 'p1', LINE])
      expect(wrote.stdout).toContain(text);
    expect(wrote.stdout).not.toContain(PASSWORD);
    expect(wrote.stdout).not.toContain('\u001b');
  });

  test('tells what each attempt failed with, and which ones are not kept', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await show(at, '1', {});
    expect(wrote.stdout).toContain(
      [
        'failures:',
        '  1–3  2026-01-01T00:00:00.001Z to 2026-01-01T00:00:00.003Z  TypeError: not yet',
        '  4–6  not kept',
        '  7    2026-01-01T00:00:00.007Z                              TimeoutError E_TIME: no answer\\u001b[2J',
        'error:',
      ].join('\n'),
    );
  });

  test('in JSON with the exact texts of the event', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await show(at, '1', { json: true });
    expect(parsed(wrote.stdout)).toMatchObject({
      counts,
      letter: {
        id: '1',
        state: 'waiting',
        failure: {
          attempts: 7,
          history: [
            { first: 1, last: 3 },
            { first: 7, last: 7 },
          ],
        },
        event: { id: 'e1', key: 'a', payloadText: `{"a": "${PAYLOAD}"}`, columns: { tenant: 'acme' } },
      },
    });
    expect(wrote.stdout).not.toContain(PASSWORD);
  });

  test('of a number that is not there is an error', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await expect(show(at, '99', {})).rejects.toMatchObject({ code: 'CLI_NOTHING_FOUND' });
    expect(wrote.stdout).toBe('');
  });
});

describe('export', () => {
  test('writes a line for each letter that is held, in full; the counts are on stderr', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await exportLetters(at, { state: 'held' });
    const lines = wrote.stdout.trimEnd().split('\n').map(parsed);
    expect(lines.map(({ id }) => id)).toEqual(['1', '3', '4', '5']);
    expect(lines[0]).toMatchObject({
      event: { payloadText: `{"a": "${PAYLOAD}"}` },
      failure: {
        attempts: 7,
        history: [
          { first: 1, last: 3 },
          { first: 7, last: 7 },
        ],
      },
    });
    expect(wrote.stdout).not.toContain(PASSWORD);
    expect(wrote.stderr).toBe(`4 letters exported\n${LINE}`);
  });

  test('of a state, and no more than asked for', async () => {
    const { at, wrote } = deskWith(LETTERS);
    await exportLetters(at, { state: 'waiting', limit: 2 });
    expect(
      wrote.stdout
        .trimEnd()
        .split('\n')
        .map(parsed)
        .map(({ id }) => id),
    ).toEqual(['1', '4']);
  });
});

describe('what changes something', () => {
  test('retry with a filter asks nobody, and tells the keys and the counts', async () => {
    const { at, desk, wrote } = deskWith(LETTERS);
    await retry(at, { error: 'Timeout', olderThan: 60_000, state: 'waiting' });
    expect(desk.asked).toEqual([['retry', { error: 'Timeout', olderThan: 60_000, state: 'waiting' }]]);
    expect(wrote.stdout).toBe(`4 keys released: a, b, b\\u001b[2J, c\n${LINE}`);
  });

  test('retry names ten keys, and how many more there are', async () => {
    const { at, wrote } = deskWith(Array.from({ length: 12 }, (_, i) => letter(i + 1, `k${String(i)}`)));
    await retry(at, { type: 'paid' });
    expect(wrote.stdout).toMatch(/^12 keys released: k0, .*k9, and 2 more\n/);
  });

  test('in JSON', async () => {
    const { at, wrote } = deskWith(LETTERS);
    const answer = (): unknown => {
      const all = parsed(wrote.stdout);
      wrote.stdout = '';
      return all;
    };
    await retry(at, { key: 'a', json: true });
    expect(answer()).toEqual({ pipeline: 'orders', counts, released: ['a', 'b', 'b\u001b[2J', 'c'] });
    await skip(at, { key: 'a', yes: true, json: true });
    expect(answer()).toMatchObject({ pipeline: 'orders', counts, skipped: { id: '1', event: 'e1' } });
    await discard(at, { key: 'a', yes: true, json: true });
    expect(answer()).toEqual({ pipeline: 'orders', counts, discarded: 3 });
  });

  test('skip and discard of a key that has nothing are errors', async () => {
    const { at } = deskWith(LETTERS);
    for (const command of [skip, discard])
      await expect(command(at, { key: 'z', yes: true })).rejects.toMatchObject({ code: 'CLI_NOTHING_FOUND' });
  });
});

const ASKED: readonly (readonly [string, (at: Desk) => Promise<void>, unknown])[] = [
  ['everything to retry', (at) => retry(at, {}), ['retry', {}]],
  ['a key to skip', (at) => skip(at, { key: 'a' }), ['skip', 'a']],
  ['a key to discard', (at) => discard(at, { key: 'a' }), ['discard', 'a']],
];

describe.each(ASKED)('on a terminal, %s', (_, command, done) => {
  test.each(['y\n', 'yes\n', 'YES \n'])('is asked for on stderr, and done at %j', async (typed) => {
    const { at, desk, wrote } = deskWith(LETTERS, typed);
    await command(at);
    expect(desk.asked).toEqual([done]);
    expect(wrote.stderr).toContain('Type yes to go on: ');
    expect(wrote.stdout).not.toContain('Type yes');
  });

  test.each(['no\n', '\n', '', 'yes please\n'])('is not done at %j', async (typed) => {
    const { at, desk } = deskWith(LETTERS, typed);
    await expect(command(at)).rejects.toMatchObject({ code: 'CLI_CANCELLED' });
    expect(desk.asked).toEqual([]);
  });
});
