import { StrandlineError } from '@strandline/core';
import { expect, test } from 'vitest';
import { problemOf } from '../src/api/problem.js';

test.each([
  ['PIPELINE_KEY_UNKNOWN', 404],
  ['ADMIN_NOT_FOUND', 404],
  ['PIPELINE_CONTROL', 400],
  ['REPLAY_CONFIG', 400],
  ['PIPELINE_NOT_OWNER', 409],
  ['PIPELINE_KEY_BUSY', 409],
  ['REPLAY_TAKEN', 409],
  ['OFFSETS_UNAVAILABLE', 503],
  ['LETTERS_UNAVAILABLE', 503],
  ['OFFSETS_CORRUPT', 500],
] as const)('%s is answered with %i', (code, status) => {
  expect(problemOf(new StrandlineError(code, 'It is so.', 'Do that.'))).toEqual({
    status,
    problem: { code, problem: 'It is so.', remedy: 'Do that.' },
  });
});

test('what can work later is answered with 503, and of an error of somebody else nothing is told', () => {
  expect(problemOf(new StrandlineError('PG_CONNECT', 'Away.', 'Wait.', { transient: true })).status).toBe(
    503,
  );
  const foreign = problemOf(new Error('password hunter2'));
  expect(foreign).toMatchObject({ status: 500, problem: { code: 'ADMIN_UNEXPECTED' } });
  expect(JSON.stringify(foreign)).not.toContain('hunter2');
  expect(problemOf(null).status).toBe(500);
});
