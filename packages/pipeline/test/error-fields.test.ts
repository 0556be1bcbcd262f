import { expect, test } from 'vitest';
import { errorFields } from '../src/error-fields.js';

test('name, message, code and causes of an error are logged', () => {
  const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  expect(errorFields(new TypeError('no mail sent', { cause }))).toMatchObject({
    type: 'TypeError',
    message: 'no mail sent',
    cause: { type: 'Error', message: 'connection refused', code: 'ECONNREFUSED' },
  });
});

test('what a client keeps in the fields of its errors is not logged', () => {
  const error = Object.assign(new Error('403'), {
    config: { headers: { authorization: 'secret' } },
    payload: 'secret',
  });
  expect(JSON.stringify(errorFields(error))).not.toContain('secret');
});

test('a thrown value that is no error is not printed: it may be the payload', () => {
  expect(JSON.stringify(errorFields({ card: 'secret' }))).not.toContain('secret');
});

test('a circle of causes ends', () => {
  const error = new Error('round');
  // How long a real one is depends on who runs the tests.
  error.stack = 'Error: round\n    at somewhere';
  error.cause = error;
  expect(JSON.stringify(errorFields(error)).length).toBeLessThan(10_000);
});
