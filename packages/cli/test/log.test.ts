import { expect, test } from 'vitest';
import { isVerbose, parseLevel } from '../src/log.js';

test.each([
  ['info', 'info'],
  ['WARN', 'warn'],
  ['silent', 'silent'],
  ['', 'info'],
])('the level %j is %s', (text, level) => {
  expect(parseLevel(text)).toBe(level);
});

test.each(['verbose', 'toString', '30', ' info'])('%j is no level', (text) => {
  expect(() => parseLevel(text)).toThrow('Use one of trace, debug');
});

test('stacks come with debug and trace', () => {
  expect((['trace', 'debug', 'info', 'silent'] as const).filter(isVerbose)).toEqual(['trace', 'debug']);
});
