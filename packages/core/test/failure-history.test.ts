import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timedBy, withAttempt, type FailureHistory } from '../src/failure-history.js';
import { HeadFailures } from '../src/head-failures.js';
import { shortError, type ShortError } from '../src/short-error.js';

const named = (message: string): ShortError => ({ name: 'Error', code: null, message });

/** The history of attempts that failed with these messages, a letter each, one every ten milliseconds. */
function historyOf(messages: string): FailureHistory<number> {
  return Array.from(messages).reduce<FailureHistory<number>>(
    (history, message, n) => withAttempt(history, n + 1, 10 * (n + 1), named(message)),
    [],
  );
}

function told(history: FailureHistory<number>): string[] {
  return history.map(({ first, last, firstFailedAt, lastFailedAt, error }) => {
    expect([firstFailedAt, lastFailedAt]).toEqual([10 * first, 10 * last]);
    return `${String(first)}-${String(last)} ${error.message}`;
  });
}

/** The same, as the head of a strand keeps it. */
function headOf(errors: readonly unknown[]): HeadFailures {
  const [first, ...more] = errors;
  const head = new HeadFailures(first, 10);
  more.forEach((error, n) => {
    head.add(error, 10 * (n + 2));
  });
  return head;
}

const errorsOf = (messages: string): Error[] => Array.from(messages, (message) => new Error(message));

describe('the history of failed attempts', () => {
  it.each([
    { messages: '', history: [] },
    { messages: 'a', history: ['1-1 a'] },
    { messages: 'aaabb', history: ['1-3 a', '4-5 b'] },
    { messages: 'aba', history: ['1-1 a', '2-2 b', '3-3 a'] },
    {
      messages: 'abcdefghij',
      history: Array.from('abcdefghij', (m, n) => `${String(n + 1)}-${String(n + 1)} ${m}`),
    },
    {
      messages: 'aabcdefghijklmm',
      history: [
        '1-2 a',
        '3-3 b',
        '4-4 c',
        '8-8 g',
        '9-9 h',
        '10-10 i',
        '11-11 j',
        '12-12 k',
        '13-13 l',
        '14-15 m',
      ],
    },
  ])(
    'of $messages: what failed alike in a row is one entry, and what is too many is left out in the middle',
    ({ messages, history }) => {
      expect(told(historyOf(messages))).toEqual(history);
    },
  );

  it('is the same as a strand keeps it for its head', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[abcdefghijklm]{1,40}$/), (messages) => {
        const head = headOf(errorsOf(messages));
        expect(head.history).toEqual(historyOf(messages));
        expect([head.firstAt, head.lastAt, head.lastError]).toMatchObject([
          10,
          10 * messages.length,
          { message: messages.at(-1) },
        ]);
      }),
    );
  });

  it('has times to the microsecond, and the last one exactly', () => {
    const head = new HeadFailures(new Error('a'), 0.123456);
    head.add(new Error('b'), 5.000_000_4);
    head.add(new Error('b'), 7.654321);
    expect(head.history.map(({ firstFailedAt, lastFailedAt }) => [firstFailedAt, lastFailedAt])).toEqual([
      [0.123, 0.123],
      [5.000_000_4, 7.654321],
    ]);
  });

  it('takes errors for the same when they are told in the same words, and no others', () => {
    const coded = (code: unknown): Error => Object.assign(new Error('x'), { code });
    const different = [
      new Error('x'),
      new TypeError('x'),
      new Error('y'),
      coded('E'),
      coded('F'),
      coded(1),
      'x',
      undefined,
    ];
    expect(headOf(different).history.map(({ error }) => error)).toEqual(different.map(shortError));
    const alike = [new Error('x\nfirst'), new Error('x\nsecond'), new Error('x')];
    expect(headOf(alike).history).toHaveLength(1);
    expect(headOf([new Error(`${'y'.repeat(120)}1`), new Error(`${'y'.repeat(120)}2`)]).history).toHaveLength(
      1,
    );
  });

  it('takes no more than so much, whatever the errors are', () => {
    const head = new HeadFailures(new Error('first'), 0);
    for (let n = 1; n <= 1_000; n += 1) {
      const error = Object.assign(new Error(`${String(n)} ${'注\ud83e"'.repeat(10_000)}`), {
        code: 'C'.repeat(1_000),
      });
      error.name = 'N'.repeat(1_000);
      head.add(error, n);
    }
    expect(head.history).toHaveLength(10);
    expect(head.history.at(-1)).toMatchObject({ first: 1_001, last: 1_001 });
    expect(JSON.stringify(head.history).length).toBeLessThan(10 * 1_000);
  });

  it('can be told by another clock', () => {
    const [one] = timedBy(historyOf('aa'), (time) => `at ${String(time)}`);
    expect(one).toEqual({
      first: 1,
      last: 2,
      firstFailedAt: 'at 10',
      lastFailedAt: 'at 20',
      error: named('a'),
    });
  });
});

describe('a short error', () => {
  it('has no credentials, no second line, and nothing long', () => {
    const error = new Error(`at postgres://u:secret@db\npayload`);
    expect(shortError(error)).toEqual(named('at postgres://***@db'));
    expect(shortError(new Error('m'.repeat(200))).message).toBe(`${'m'.repeat(120)}…`);
  });

  it('can be told of whatever was thrown', () => {
    const odd = Object.assign(new Error('x'), { message: { answer: 1 }, name: undefined, code: {} });
    expect(shortError(odd)).toEqual({ name: 'Error', code: null, message: '(a message that is no text)' });
    for (const thrown of ['text', 7, null, undefined, { message: 'x' }])
      expect(shortError(thrown)).toEqual({ name: typeof thrown, code: null, message: '' });
  });
});
