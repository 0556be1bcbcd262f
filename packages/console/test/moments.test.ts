import { expect, test } from 'vitest';
import type { KeyAnswer } from '@strandline/admin';
import { folded, momentsOf } from '../page/views/moments.ts';

const TIMEOUT = { name: 'Error', code: 'TIMEOUT', message: 'no answer' };
const REFUSED = { name: 'Error', code: 'REFUSED', message: 'no stock' };

function failed(attempt: number, error: typeof TIMEOUT, position = '0/1:1'): KeyAnswer['happenings'][number] {
  return { at: `2026-05-01T12:00:0${String(attempt)}Z`, what: 'failed', position, attempt, error };
}

function keyWith(...happenings: KeyAnswer['happenings']): KeyAnswer {
  return {
    ...{ key: '42', owned: true, strand: null, waiting: [], parked: null, held: null, paused: null },
    ...{ letters: [], lettersError: null, happenings },
  };
}

test('attempts that failed one after another in the same way are one moment', () => {
  const moments = folded(
    momentsOf(keyWith(failed(1, TIMEOUT), failed(2, TIMEOUT), failed(3, TIMEOUT), failed(4, REFUSED))),
  );
  expect(moments.map(({ text, error }) => [text, error])).toEqual([
    ['attempt 4, at 0/1:1', 'REFUSED: no stock'],
    ['attempts 1 to 3, at 0/1:1', 'TIMEOUT: no answer'],
  ]);
  expect(moments[1]?.at).toBe('2026-05-01T12:00:03Z');
});

test('what lies between two attempts, or another event, keeps them apart', () => {
  const retried = { at: '2026-05-01T12:00:01.500Z', what: 'retried' as const, by: 'ada' };
  const apart = keyWith(failed(1, TIMEOUT), retried, failed(2, TIMEOUT), failed(3, TIMEOUT, '0/2:1'));
  expect(folded(momentsOf(apart)).map(({ text }) => text)).toEqual([
    ...['attempt 3, at 0/2:1', 'attempt 2, at 0/1:1', 'by ada', 'attempt 1, at 0/1:1'],
  ]);
});
