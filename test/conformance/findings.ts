import type { Finding } from '@strandline/core';
import { expect } from 'vitest';

/** What every finding of a look at a server has, so that `strandline doctor` can print it. */
export function expectExplained({ check, result, found, why, remedy }: Finding): void {
  expect(check).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  expect(['pass', 'warn', 'fail']).toContain(result);
  expect(found, check).not.toBe('');
  expect(why, check).not.toBe('');
  expect(remedy === null, check).toBe(result === 'pass');
  expect([found, why, remedy].join(' '), check).not.toMatch(/:\/\/[^/\s]*:[^/\s]*@/);
}
