import { expect, it } from 'vitest';
import { failureOf } from '../src/failures.js';
import { shownUrl } from '../src/shown-url.js';

it.each([
  'https://hooks.example.com/services/T0/hunter2',
  'https://hooks.example.com/?token=hunter2',
  'https://hunter2@hooks.example.com/#hunter2',
])('%s is shown without what may be a secret', (text) => {
  expect(shownUrl(new URL(text))).toBe('https://hooks.example.com');
  expect(String(failureOf(new Error('x'), new URL(text), 1_000, {}))).not.toContain('hunter2');
});
