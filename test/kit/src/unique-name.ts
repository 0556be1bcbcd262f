import { randomBytes } from 'node:crypto';

/** A name that no other test has, in letters that databases, slots, publications and Redis keys all allow. */
export function uniqueName(): string {
  return `test_${randomBytes(6).toString('hex')}`;
}
